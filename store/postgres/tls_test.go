package postgres_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"harness"
	"harness/store/postgres"
	"harness/store/postgres/postgrestest"
)

// TestTheURLDecidesAboutTLS connects to a server that has a certificate by the
// name that is in it and by another.
func TestTheURLDecidesAboutTLS(t *testing.T) {
	t.Parallel()
	server := postgrestest.StartAlone(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile := filepath.Join(server.Dir(), "cert.pem"), filepath.Join(server.Dir(), "key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		server.Own(t, file)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	server.Kill(t)
	server.RestartOn(t, port, "-c", "ssl=on", "-c", "ssl_cert_file="+certFile, "-c", "ssl_key_file="+keyFile)

	at := func(host, mode string) string {
		return fmt.Sprintf("postgres://postgres@%s:%d/postgres?sslmode=%s&sslrootcert=%s", host, port, mode, certFile)
	}
	mustAppend(t, open(t, at("localhost", "verify-full")), commit("a", 0, 3))
	if st, err := postgres.Open(t.Context(), at("127.0.0.1", "verify-full"), nil); !errors.Is(err, harness.ErrStorage) {
		if err == nil {
			st.Close()
		}
		t.Fatalf("a name that is not in the certificate: %v", err)
	}
}
