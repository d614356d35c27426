package prometheus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"unicode"

	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/kube/policy/gates/address"
)

// maxText is the length of the longest text of a server that an error holds, in characters.
const maxText = 200

var (
	errTimeout     = fmt.Errorf("no response within %s", Timeout)
	errCertificate = errors.New("the server's certificate is not valid")
)

// plain returns the error of a request without URL, IP addresses and ports, which change from one request to the next and which the author
// of a policy may not be able to find out.
func plain(err error) error {
	var refused *address.Error
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var record tls.RecordHeaderError
	var number syscall.Errno
	var network *net.OpError
	var timeout net.Error
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return errTimeout
	case errors.As(err, &authority):
		return fmt.Errorf("%w: signed by an unknown authority: put its certificate into key ca.crt of the Secret", errCertificate)
	case errors.As(err, &host):
		return fmt.Errorf("%w for the host of the address", errCertificate)
	case errors.As(err, &certificate):
		return fmt.Errorf("%w: %s", errCertificate, clean(certificate.Err.Error()))
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return errors.New("the server does not speak TLS: use an http address")
	case errors.As(err, &number):
		return errors.New(number.Error())
	case errors.As(err, &network):
		return errors.New("the connection failed")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the server closed the connection without a complete response")
	}
	return errors.New("the server does not speak HTTP")
}

// texts makes texts of a server such that errors can hold them: without the token, which a server can echo, on one line and bounded.
type texts struct{ token common.Secret }

// clean returns a text as an error can hold it. The token goes first, because a bounded text could end in the middle of it.
func (t texts) clean(text string) string {
	if !t.token.Empty() {
		text = strings.ReplaceAll(text, t.token.Expose(), "...")
	}
	return clean(text)
}

// clean returns a text on one line, without control characters and bounded.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, text)
	if all := []rune(text); len(all) > maxText {
		text = string(all[:maxText]) + "..."
	}
	return strings.TrimSpace(text)
}
