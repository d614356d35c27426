package core

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
)

// Sign returns a signature of a text that takes the seed to make; a simulator that was restarted accepts it too.
func Sign(b *Base, text string) string { return base64.RawURLEncoding.EncodeToString(mac(b, text)) }

// Signed reports whether a signature is that of the text.
func Signed(b *Base, text, signature string) bool {
	sum, err := base64.RawURLEncoding.DecodeString(signature)
	return err == nil && hmac.Equal(sum, mac(b, text))
}

func mac(b *Base, text string) []byte {
	h := hmac.New(sha256.New, []byte(b.Environment.Seed.Hex(64, "token key")))
	h.Write([]byte(text))
	return h.Sum(nil)
}

// Payload returns what a JSON web token says, without checking its signature.
func Payload(token string) ([]byte, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errors.New("a token of three parts is wanted")
	}
	return base64.RawURLEncoding.DecodeString(parts[1])
}
