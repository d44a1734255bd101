package notify

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"harness"
)

// The headers of a webhook, as Standard Webhooks names them.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

// secretPrefix begins a secret that is written in base64.
const secretPrefix = "whsec_"

// leastSecret is how short a key may be: nobody guesses 128 bits.
const leastSecret = 16

// NewSecret makes a key, in the form that receivers are given.
func NewSecret() string {
	b := make([]byte, 32)
	rand.Read(b) // it never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

// key is a secret's bytes: what follows whsec_ in base64, or the text itself.
func key(secret string) ([]byte, error) {
	k := []byte(secret)
	if rest, ok := strings.CutPrefix(secret, secretPrefix); ok {
		var err error
		if k, err = base64.StdEncoding.DecodeString(rest); err != nil {
			return nil, fmt.Errorf("what follows %s is not base64: %w", secretPrefix, harness.ErrInvalid)
		}
	}
	if len(k) < leastSecret {
		return nil, fmt.Errorf("a secret has at least %d bytes: %w", leastSecret, harness.ErrInvalid)
	}
	return k, nil
}

// Sign is the signature of a body that is sent under an id at a time: whoever
// has the secret computes the same, and refuses what is older than a few minutes.
func Sign(secret, id string, at time.Time, body []byte) (string, error) {
	k, err := key(secret)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, k)
	fmt.Fprintf(mac, "%s.%s.", id, strconv.FormatInt(at.Unix(), 10))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}
