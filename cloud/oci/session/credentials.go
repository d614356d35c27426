package session

import (
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/oracle/oci-go-sdk/v65/common"

	apicommon "github.com/muster-project/muster/api/common"
	ociv1 "github.com/muster-project/muster/api/oci/v1beta2"
)

// controller is the name of the controller's own identity.
const controller = "controller"

// principalToken is the type of credentials that sign with a security token of a session.
const principalToken ociv1.PrincipalType = "SecurityToken"

// credentials are an identity with its fields checked.
type credentials struct {
	ociv1.IdentityView
	// token is the security token of a session, for principalToken.
	token        apicommon.Secret
	name, region string
}

// fingerprint identifies the credentials by a hash of all fields.
func (c credentials) fingerprint() string { return c.Fingerprint() + "/" + c.token.Hash() }

// The shapes of the fields of a user.
var (
	ocid         = regexp.MustCompile(`^ocid1\.[a-z0-9]+\.[a-z0-9-]+\.[a-z0-9-]*\.[A-Za-z0-9._-]+$`)
	fingerprints = regexp.MustCompile(`^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2})+$`)
)

// credentialsOf returns the credentials of an identity; nil is the controller's own. The lock is held.
func (s *Sessions) credentialsOf(identity *ociv1.IdentityView) (credentials, error) {
	if identity == nil {
		return s.ownOf(s.Now())
	}
	return credentials{IdentityView: *identity, name: identity.Name, region: identity.Region}, nil
}

// ownAge bounds the age of the controller's own credentials: files are read again after it.
const ownAge = 30 * time.Second

// ownCredentials are those of the controller as they were read.
type ownCredentials struct {
	at  time.Time
	is  credentials
	err error
}

// ownOf returns the controller's own credentials. The lock is held.
func (s *Sessions) ownOf(now time.Time) (credentials, error) {
	if s.own.at.IsZero() || now.Sub(s.own.at) > ownAge {
		is, err := s.readOwn()
		s.own = ownCredentials{at: now, is: is, err: err}
	}
	return s.own.is, s.own.err
}

// readOwn reads the controller's own credentials. A controller beside a simulator needs none: it signs with a key of its own then.
func (s *Sessions) readOwn() (credentials, error) {
	out := credentials{name: controller, IdentityView: ociv1.IdentityView{Name: controller, Type: ociv1.PrincipalUser}}
	is, err := directory(s.options.Directory).fields()
	if err != nil {
		return out, err
	}
	out.Tenancy, out.User, out.KeyFingerprint, out.region = is["tenancy"], is["user"], is["fingerprint"], is["region"]
	out.PrivateKey, out.Passphrase = apicommon.NewSecret(is["key"]), apicommon.NewSecret(is["passphrase"])
	switch none := len(is) == 0; {
	case is["useInstancePrincipal"] == yes:
		out.Type = ociv1.PrincipalInstance
	case is["useSessionToken"] == yes:
		out.Type, out.token = principalToken, apicommon.NewSecret(is["sessionToken"])
		out.PrivateKey = apicommon.NewSecret(is["sessionPrivateKey"])
	case none && os.Getenv(workloadVersionVariable) != "":
		out.Type = ociv1.PrincipalWorkload
	case none && onLoopback(s.options.Endpoint):
		return simulated(out)
	case none:
		return out, noCredentials(controller, "",
			"there are no credentials: name an OCIClusterIdentity in spec.identityRef of the infrastructure "+
				"cluster, or put the controller's own into "+s.options.Directory)
	}
	out.region = cmp.Or(out.region, os.Getenv(workloadRegionVariable))
	return out, nil
}

// simulatedKey is the key of the process for simulators.
var simulatedKey = sync.OnceValues(func() (*rsa.PrivateKey, error) {
	const bits = 2048
	return rsa.GenerateKey(rand.Reader, bits)
})

// simulated returns credentials with a key of the process, for a simulator that accepts every key.
func simulated(c credentials) (credentials, error) {
	key, err := simulatedKey()
	if err != nil {
		return c, noCredentials(controller, "", "no key could be generated")
	}
	c.Tenancy, c.User = "ocid1.tenancy.oc1..simulated", "ocid1.user.oc1..simulated"
	c.KeyFingerprint, c.region = "00:00", "us-ashburn-1"
	c.PrivateKey = apicommon.NewSecret(string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
		Bytes: x509.MarshalPKCS1PrivateKey(key)})))
	return c, nil
}

// directory is one with a file for each field.
type directory string

// yes is the content of a file that switches something on.
const yes = "true"

// fields returns the fields that are not empty.
func (d directory) fields() (map[string]string, error) {
	out := map[string]string{}
	for _, name := range []string{"tenancy", "user", "fingerprint", "key", "passphrase", "region", "useInstancePrincipal", "useSessionToken",
		"sessionToken", "sessionPrivateKey"} {
		text, err := d.read(name)
		if err != nil {
			return nil, err
		}
		if text != "" {
			out[name] = text
		}
	}
	return out, nil
}

// read returns the text of a file; empty where there is none.
func (d directory) read(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(string(d), name))
	switch {
	case err == nil:
		return strings.TrimSpace(string(text)), nil
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	}
	return "", noCredentials(controller, name, "can't be read from "+string(d))
}

// sourceOf returns the source of keys of credentials, or what of them can't be used. The lock is held.
func (s *Sessions) sourceOf(c credentials) (source, error) {
	switch c.Type {
	case ociv1.PrincipalInstance:
		return s.federated.instance, nil
	case ociv1.PrincipalWorkload:
		return s.federated.workload, nil
	case principalToken:
		key, err := c.key("sessionPrivateKey")
		if err == nil && c.token.Empty() {
			err = noCredentials(c.name, "sessionToken", "is missing")
		}
		return fixed{keyID: securityToken + c.token.Expose(), key: key}, err
	case ociv1.PrincipalUser, "":
		key, err := c.userKey()
		return fixed{keyID: c.Tenancy + "/" + c.User + "/" + c.KeyFingerprint, key: key}, err
	}
	return nil, noCredentials(c.name, "spec.type", "is none of UserPrincipal, InstancePrincipal and Workload")
}

// userKey returns the key of a user whose fields can be used.
func (c credentials) userKey() (*rsa.PrivateKey, error) {
	switch {
	case !ocid.MatchString(c.Tenancy):
		return nil, noCredentials(c.name, "tenancy", "is no OCID of a tenancy")
	case !ocid.MatchString(c.User):
		return nil, noCredentials(c.name, "user", "is no OCID of a user")
	case !fingerprints.MatchString(c.KeyFingerprint):
		return nil, noCredentials(c.name, "fingerprint", "is no fingerprint of a key: want one like 20:3b:97:13:55:1c")
	}
	return c.key("key")
}

// key returns the private key. The name is that of its field.
func (c credentials) key(name string) (*rsa.PrivateKey, error) {
	var passphrase *string
	if text := c.Passphrase.Expose(); text != "" {
		passphrase = &text
	}
	key, err := common.PrivateKeyFromBytes([]byte(c.PrivateKey.Expose()), passphrase)
	if err != nil || key == nil {
		// The library's words may repeat what could not be read.
		return nil, noCredentials(c.name, name, "is no private key of RSA in PEM, or the passphrase does not open it")
	}
	return key, nil
}
