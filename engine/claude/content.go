package claude

import (
	"crypto/rand"
	"fmt"
	"strings"

	"harness"
)

// content is what a person said, as the program takes it: a text, or blocks if
// there are images in it. before goes in front.
func content(parts []harness.Part, before string) any {
	type source struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	}
	type piece struct {
		Type   string  `json:"type"`
		Text   string  `json:"text,omitempty"`
		Source *source `json:"source,omitempty"`
	}
	var pieces []piece
	var rest []harness.Part
	for _, p := range parts {
		media, data, ok := strings.Cut(strings.TrimPrefix(p.URL, "data:"), ";base64,")
		if ok && strings.HasPrefix(p.URL, "data:image/") {
			pieces = append(pieces, piece{Type: "image", Source: &source{"base64", media, data}})
			continue
		}
		rest = append(rest, p)
	}
	text := before + harness.PlainText(rest)
	if len(pieces) == 0 {
		return text
	}
	if text != "" {
		pieces = append(pieces, piece{Type: "text", Text: text})
	}
	return pieces
}

// newUUID makes an identifier in the only form that the program takes.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
