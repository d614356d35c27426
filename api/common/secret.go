package common

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Secret is a text that is never shown: a password, a key, a certificate. It prints, and is encoded, as its hash. The zero
// Secret holds nothing.
//
// +kubebuilder:object:generate=false
type Secret struct{ sealed *sealedText }

// sealedText, behind one more pointer, is text that fmt does not follow: where it can call no method it prints what it
// finds, and through the first pointer of a bad verb too.
type sealedText *struct{ text string }

// NewSecret hides a text. Nothing is hidden of an empty one.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	hidden := sealedText(&struct{ text string }{text})
	return Secret{sealed: &hidden}
}

// Empty reports whether there is none.
func (s Secret) Empty() bool { return s.sealed == nil }

// Expose gives the text. It must reach nothing but what it is for.
func (s Secret) Expose() string {
	if s.sealed == nil {
		return ""
	}
	return (*s.sealed).text
}

// Equal reports whether both hold the same.
func (s Secret) Equal(other Secret) bool { return s.Expose() == other.Expose() }

// Hash returns a hash that identifies the text without exposing it; it is empty for none.
func (s Secret) Hash() string {
	if s.Empty() {
		return ""
	}
	sum := sha256.Sum256([]byte(s.Expose()))
	return hex.EncodeToString(sum[:])
}

// String shows the beginning of the hash, never the text.
func (s Secret) String() string {
	if s.Empty() {
		return "nothing"
	}
	return "sealed " + s.Hash()[:12]
}

// GoString is String, for %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalJSON encodes the hash, never the text.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.Hash()) }
