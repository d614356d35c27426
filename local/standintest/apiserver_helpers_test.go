package standintest_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"

	"k8s.io/client-go/util/cert"
)

func errorf(format string, a ...any) error { return fmt.Errorf(format, a...) }

func makeRequest(key any) ([]byte, error) {
	return cert.MakeCSRFromTemplate(key, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "someone", Organization: []string{"people"}}})
}
