package session

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	azcloud "github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"

	azurev1 "github.com/muster-project/muster/api/azure/v1beta1"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
)

// statedFor is the lifetime of a stated token, which is sent in clear over plain HTTP.
const statedFor = time.Hour

// credential returns the credential with which an identity, or the controller for nil, gets tokens.
func (s *Sessions) credential(where azcloud.Configuration, through policy.Transporter,
	i *azurev1.IdentityView) (azcore.TokenCredential, error) {
	if s.options.Credential != nil {
		made, err := s.options.Credential(where, i)
		return made, unusable(err, i)
	}
	if isPlainHTTP(endpointOf(where)) {
		return stated{name: nameOf(i), now: s.options.Now}, nil
	}
	options := clientOptions(where, through)
	if i == nil {
		made, err := azidentity.NewDefaultAzureCredential(&azidentity.DefaultAzureCredentialOptions{ClientOptions: options})
		return made, unusable(err, i)
	}
	made, err := credentialOf(i, options)
	return made, unusable(err, i)
}

// credentialOf returns the credential for the type of an identity.
func credentialOf(i *azurev1.IdentityView, options policy.ClientOptions) (azcore.TokenCredential, error) {
	switch i.Type {
	case azurev1.IdentityServicePrincipal, azurev1.IdentityManualServicePrincipal:
		return azidentity.NewClientSecretCredential(i.TenantID, i.ClientID, i.Secret.Expose(),
			&azidentity.ClientSecretCredentialOptions{ClientOptions: options})
	case azurev1.IdentityServicePrincipalCertificate:
		application := certified{tenantID: i.TenantID, clientID: i.ClientID, options: options}
		if i.CertPath != "" {
			return &fromFile{path: i.CertPath, read: application.credential}, nil
		}
		return application.credential([]byte(i.Secret.Expose()))
	case azurev1.IdentityWorkloadIdentity:
		return azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{
			ClientOptions: options, TenantID: i.TenantID, ClientID: i.ClientID,
		})
	case azurev1.IdentityUserAssignedMSI:
		return managed(i, options)
	case azurev1.IdentityUserAssignedIdentityCredential:
		if i.CredentialsPath == "" {
			return nil, errors.New("the identity names no file with credentials: set spec.userAssignedIdentityCredentialsPath")
		}
		return &fromFile{path: i.CredentialsPath, read: delivered(options).credential}, nil
	default:
		return nil, fmt.Errorf("there is no type %q of identity", i.Type)
	}
}

// managed returns the credential of a managed identity, named by its client ID or its resource ID.
func managed(i *azurev1.IdentityView, options policy.ClientOptions) (azcore.TokenCredential, error) {
	settings := &azidentity.ManagedIdentityCredentialOptions{ClientOptions: options}
	switch {
	case i.ClientID != "":
		settings.ID = azidentity.ClientID(i.ClientID)
	case i.ResourceID != "":
		settings.ID = azidentity.ResourceID(i.ResourceID)
	}
	return azidentity.NewManagedIdentityCredential(settings)
}

// unusable converts the error of an identity for which no credential can be created.
func unusable(err error, i *azurev1.IdentityView) error {
	if err == nil {
		return nil
	}
	return withIdentity(&cloud.Error{Kind: cloud.Denied, Code: cloud.CodeNoCredentials, Message: Clean(err.Error())}, i)
}

// nameOf returns the name of an identity for messages.
func nameOf(i *azurev1.IdentityView) string {
	if i == nil {
		return "controller"
	}
	return i.Name
}

// stated is a credential for addresses with plain HTTP, where any listener could read a token: it sends the identity's name in clear.
type stated struct {
	name string
	now  func() time.Time
}

// GetToken returns a token that only the simulator accepts.
func (s stated) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "simulated:" + s.name, ExpiresOn: s.now().Add(statedFor)}, nil
}

// callError is the error of a call without a reply. It holds the call and the calling identity.
type callError struct {
	err  error
	call wire.Call
	by   *azurev1.IdentityView
}

// Error is the text of the error within.
func (a *callError) Error() string { return a.err.Error() }

// Unwrap gives the error within.
func (a *callError) Unwrap() error { return a.err }

// NonRetriable keeps the SDK from trying again.
func (a *callError) NonRetriable() {}

type identityKey struct{}

// callAnnotator adds the identity to every request, and the call and the identity to every error without a reply.
type callAnnotator struct {
	by      *azurev1.IdentityView
	through *sender
}

// Do sends the request on.
func (a callAnnotator) Do(req *policy.Request) (*http.Response, error) {
	req = req.WithContext(context.WithValue(req.Raw().Context(), identityKey{}, a.by))
	reply, err := req.Next()
	if err != nil {
		err = &callError{err: err, call: a.through.named(req.Raw()), by: a.by}
	}
	return reply, err
}

// withIdentity names the identity that was denied something, and keeps its secret out of the message.
func withIdentity(e *cloud.Error, i *azurev1.IdentityView) *cloud.Error {
	if i == nil {
		return e
	}
	if e.Kind == cloud.Denied && e.Field == "" {
		e.Field = i.Name
	}
	if i.Secret.Empty() {
		return e
	}
	secret := []byte(i.Secret.Expose())
	for _, text := range [][]byte{secret, []byte(base64.StdEncoding.EncodeToString(secret))} {
		_ = cloud.RedactError(e, cloud.NewBootstrap(text, ""))
	}
	return e
}
