package session

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
)

// certified is an application that shows a certificate.
type certified struct {
	tenantID, clientID string
	options            policy.ClientOptions
	// chain sends the certificate's chain along, and regional is true if the authority is one of a region, which can't be looked up.
	chain, regional bool
}

// credential is the application's with the certificate and its private key.
func (c certified) credential(data []byte) (azcore.TokenCredential, error) {
	certificates, key, err := azidentity.ParseCertificates(data, nil)
	if err != nil {
		// The SDK's words may repeat what could not be read.
		return nil, errors.New("no certificate with its private key was found: want both, in PEM or in PKCS#12 without a password")
	}
	made, err := azidentity.NewClientCertificateCredential(c.tenantID, c.clientID, certificates, key,
		&azidentity.ClientCertificateCredentialOptions{
			ClientOptions: c.options, SendCertificateChain: c.chain, DisableInstanceDiscovery: c.regional,
		})
	if err != nil {
		return nil, fmt.Errorf("the certificate can't be used: %w", err)
	}
	return made, nil
}

// delivered reads the file in which a managed identity's certificate is delivered.
type delivered policy.ClientOptions

// credential is that of the identity which the file names.
func (d delivered) credential(data []byte) (azcore.TokenCredential, error) {
	var is struct {
		ClientID  string `json:"client_id"`
		TenantID  string `json:"tenant_id"`
		Secret    string `json:"client_secret"`
		Authority string `json:"authentication_endpoint"`
	}
	if json.Unmarshal(data, &is) != nil {
		return nil, errors.New("the file with credentials holds no JSON object")
	}
	certificate, err := base64.StdEncoding.DecodeString(is.Secret)
	if err != nil {
		return nil, errors.New("client_secret of the file with credentials is not in base64")
	}
	application := certified{tenantID: is.TenantID, clientID: is.ClientID, options: policy.ClientOptions(d), chain: true, regional: true}
	if is.Authority != "" {
		application.options.Cloud.ActiveDirectoryAuthorityHost = is.Authority
	}
	return application.credential(certificate)
}

// fromFile is a credential that is kept fresh in a file. The file is looked at whenever a token is due.
type fromFile struct {
	path string
	read func([]byte) (azcore.TokenCredential, error)

	mu   sync.Mutex
	sum  [sha256.Size]byte
	made azcore.TokenCredential
}

// GetToken gets a token with what the file holds now.
func (f *fromFile) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	credential, err := f.now()
	if err != nil {
		return azcore.AccessToken{}, unusable(err, nil)
	}
	return credential.GetToken(ctx, o)
}

// now is the credential of what the file holds now.
func (f *fromFile) now() (azcore.TokenCredential, error) {
	data, err := os.ReadFile(f.path)
	if err != nil {
		return nil, fmt.Errorf("the identity's file can't be read: %w", err)
	}
	sum := sha256.Sum256(data)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made != nil && f.sum == sum {
		return f.made, nil
	}
	made, err := f.read(data)
	if err != nil {
		return nil, fmt.Errorf("the identity's file %s: %w", f.path, err)
	}
	f.made, f.sum = made, sum
	return made, nil
}
