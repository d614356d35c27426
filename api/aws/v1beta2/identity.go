package v1beta2

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/muster-project/muster/api/common"
)

// IdentityView is the identity for API calls on behalf of a cluster that does not use the controller's own credentials: access keys, roles
// to assume, or both. It is no API object, and is immutable.
//
// +kubebuilder:object:generate=false
type IdentityView struct {
	// Name is the kind and name of the object that the cluster refers to, for example AWSClusterRoleIdentity/tenant-a. It identifies the
	// identity in messages, rate limits and metrics.
	Name string
	// Keys sign the first call. The zero Keys are the controller's own credentials.
	Keys AccessKeys
	// Roles are assumed one after another, the first with Keys. API calls use the credentials of the last.
	Roles []RoleView
}

// RoleView is one role that is assumed.
//
// +kubebuilder:object:generate=false
type RoleView struct {
	// Name is the kind and name of the object that defines the role.
	Name string
	// ARN of the role.
	ARN string
	// SessionName identifies the session in the cloud's logs; if empty, the driver chooses it.
	SessionName string
	// Duration of a session before it is renewed; zero leaves it to the driver.
	Duration time.Duration
	// InlinePolicy and PolicyARNs narrow what the session may do.
	InlinePolicy string
	PolicyARNs   []string
	// ExternalID that the role's trust policy asks for.
	ExternalID string
}

// Fingerprint identifies the identity by a hash of all its fields. It is the cache key of clients, so that a rotated secret leads to new
// ones.
func (i *IdentityView) Fingerprint() string {
	if i == nil {
		return ""
	}
	// Strings, numbers and lists of them: nothing here can fail to be encoded.
	text, _ := json.Marshal(i)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// DeepCopyInto copies the view.
func (i *IdentityView) DeepCopyInto(out *IdentityView) {
	*out = *i
	out.Roles = slices.Clone(i.Roles)
	for k := range out.Roles {
		out.Roles[k].PolicyARNs = slices.Clone(out.Roles[k].PolicyARNs)
	}
}

// DeepCopy returns a copy of the view.
func (i *IdentityView) DeepCopy() *IdentityView {
	if i == nil {
		return nil
	}
	out := &IdentityView{}
	i.DeepCopyInto(out)
	return out
}

// AccessKeys hold the credentials that sign requests. Formatting and encoding yield only their hash.
//
// +kubebuilder:object:generate=false
type AccessKeys struct{ sealed common.Secret }

// NewAccessKeys seals an access key, its secret, and the session token that belongs to them if they are temporary.
func NewAccessKeys(id, secret, sessionToken string) AccessKeys {
	// Strings: nothing here can fail to be encoded.
	text, _ := json.Marshal([3]string{id, secret, sessionToken})
	return AccessKeys{sealed: common.NewSecret(string(text))}
}

// Empty reports whether there are none.
func (k AccessKeys) Empty() bool { return k.sealed.Empty() }

// Expose gives the texts. They must reach nothing but the signer of requests.
func (k AccessKeys) Expose() (id, secret, sessionToken string) {
	var texts [3]string
	if !k.Empty() {
		// NewAccessKeys has written the text.
		_ = json.Unmarshal([]byte(k.sealed.Expose()), &texts)
	}
	return texts[0], texts[1], texts[2]
}

// Equal reports whether both are the same keys.
func (k AccessKeys) Equal(other AccessKeys) bool { return k.sealed.Equal(other.sealed) }

// String shows the hash, never the keys.
func (k AccessKeys) String() string {
	if k.Empty() {
		return "no access keys"
	}
	return "access keys " + k.sealed.Hash()[:12]
}

// GoString shows the hash, never the keys, for %#v.
func (k AccessKeys) GoString() string { return k.String() }

// MarshalJSON encodes the hash, never the keys.
func (k AccessKeys) MarshalJSON() ([]byte, error) { return k.sealed.MarshalJSON() }
