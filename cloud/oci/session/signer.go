package session

import (
	"context"
	"crypto/rsa"
	"net/http"

	"github.com/oracle/oci-go-sdk/v65/common"
)

// securityToken begins the IDs of keys that are security tokens.
const securityToken = "ST$"

// source gives the key that signs a request, with its ID. Both belong together: a token is good for the key of its session alone.
type source interface {
	get(ctx context.Context) (fixed, error)
	// refused is called when the service did not accept the ID of a key.
	refused(keyID string)
}

// fixed is a key with its ID. It is the source of credentials that last.
type fixed struct {
	keyID string
	key   *rsa.PrivateKey
}

func (f fixed) get(context.Context) (fixed, error) { return f, nil }

func (fixed) refused(string) {}

// PrivateRSAKey and KeyID are those of the SDK's key providers.
func (f fixed) PrivateRSAKey() (*rsa.PrivateKey, error) { return f.key, nil }

// KeyID returns the ID of the key.
func (f fixed) KeyID() (string, error) { return f.keyID, nil }

// signer signs each request with the key that its source has then.
type signer struct{ from source }

// Sign signs a request.
func (s signer) Sign(r *http.Request) error {
	is, err := s.from.get(r.Context())
	if err != nil {
		return err
	}
	*r = *r.WithContext(context.WithValue(r.Context(), signedBy{}, is.keyID))
	return common.DefaultRequestSigner(is).Sign(r)
}

// signedBy is the key under which the context of a request has the ID of the key that signed it.
type signedBy struct{}
