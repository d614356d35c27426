package project

import (
	"crypto/sha256"
	"encoding/base64"

	"github.com/muster-project/muster/sim/document"
)

// Fingerprint returns a hash of a value in the form of Google's fingerprints: eight bytes in URL-safe base64.
func Fingerprint(v any) string {
	sum := sha256.Sum256([]byte(document.Written(v)))
	return base64.URLEncoding.EncodeToString(sum[:8])
}
