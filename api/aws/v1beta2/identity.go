package v1beta2

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/muster-project/muster/api/common"
)

// IdentityView is who asks the cloud for a cluster, where that is not the controller with its own credentials: access
// keys, roles that are assumed, or both. It is no API object, and is never changed once it is made.
//
// +kubebuilder:object:generate=false
type IdentityView struct {
	// Name is the kind and name of the object that the cluster names, for example AWSClusterRoleIdentity/tenant-a. It is
	// what messages, rate budgets and metrics know the identity by.
	Name string
	// Keys sign the first call. The zero Keys are the controller's own credentials.
	Keys AccessKeys
	// Roles are assumed one after another, the first with Keys. The cloud is asked with the credentials of the last.
	Roles []RoleView
}

// RoleView is one role that is assumed.
//
// +kubebuilder:object:generate=false
type RoleView struct {
	// Name is the kind and name of the object that says so.
	Name string
	// ARN of the role.
	ARN string
	// SessionName that the cloud's logs know us by; empty leaves it to the driver.
	SessionName string
	// Duration of a session before it is renewed; zero leaves it to the driver.
	Duration time.Duration
	// InlinePolicy and PolicyARNs narrow what the session may do.
	InlinePolicy string
	PolicyARNs   []string
	// ExternalID that the role's trust policy asks for.
	ExternalID string
}

// Fingerprint tells identities apart by all that they hold, without showing it. Clients are kept by it, so that a rotated
// secret makes new ones.
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

// DeepCopy is a copy of the view.
func (i *IdentityView) DeepCopy() *IdentityView {
	if i == nil {
		return nil
	}
	out := &IdentityView{}
	i.DeepCopyInto(out)
	return out
}

// AccessKeys are what requests are signed with. They print, and are encoded, as their hash.
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
		// It is what NewAccessKeys wrote.
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
