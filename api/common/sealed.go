package common

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Sealed is a text that is never shown: a password, a key, a certificate. It prints, and is encoded, as its hash. The zero
// Sealed holds nothing.
//
// +kubebuilder:object:generate=false
type Sealed struct{ sealed *sealedText }

// sealedText, behind one more pointer, is text that fmt does not follow: where it can call no method it prints what it
// finds, and through the first pointer of a bad verb too.
type sealedText *struct{ text string }

// Seal hides a text. Nothing is hidden of an empty one.
func Seal(text string) Sealed {
	if text == "" {
		return Sealed{}
	}
	hidden := sealedText(&struct{ text string }{text})
	return Sealed{sealed: &hidden}
}

// Empty reports whether there is none.
func (s Sealed) Empty() bool { return s.sealed == nil }

// Reveal gives the text. It must reach nothing but what it is for.
func (s Sealed) Reveal() string {
	if s.sealed == nil {
		return ""
	}
	return (*s.sealed).text
}

// Equal reports whether both hold the same.
func (s Sealed) Equal(other Sealed) bool { return s.Reveal() == other.Reveal() }

// Hash tells texts apart without showing them; it is empty for none.
func (s Sealed) Hash() string {
	if s.Empty() {
		return ""
	}
	sum := sha256.Sum256([]byte(s.Reveal()))
	return hex.EncodeToString(sum[:])
}

// String shows the beginning of the hash, never the text.
func (s Sealed) String() string {
	if s.Empty() {
		return "nothing"
	}
	return "sealed " + s.Hash()[:12]
}

// GoString is String, for %#v.
func (s Sealed) GoString() string { return s.String() }

// MarshalJSON encodes the hash, never the text.
func (s Sealed) MarshalJSON() ([]byte, error) { return json.Marshal(s.Hash()) }
