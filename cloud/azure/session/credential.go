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

// statedFor is how long what is said in clear over plain HTTP is good.
const statedFor = time.Hour

// credential is what an identity, or the controller for nil, gets tokens with.
func (s *Sessions) credential(where azcloud.Configuration, through policy.Transporter,
	i *azurev1.IdentityView) (azcore.TokenCredential, error) {
	if s.options.Credential != nil {
		made, err := s.options.Credential(where, i)
		return made, unusable(err, i)
	}
	if plain(endpointOf(where)) {
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

// credentialOf is an identity's credential by its type.
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

// managed is the credential of a managed identity, named by its client or its resource.
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

// unusable is the refusal of an identity that no credential can be made of.
func unusable(err error, i *azurev1.IdentityView) error {
	if err == nil {
		return nil
	}
	return byWhom(&cloud.Error{Kind: cloud.Denied, Code: cloud.CodeNoCredentials, Message: Clean(err.Error())}, i)
}

// nameOf is how messages call an identity.
func nameOf(i *azurev1.IdentityView) string {
	if i == nil {
		return "controller"
	}
	return i.Name
}

// stated says in clear who asks, for addresses where anybody could read a token.
type stated struct {
	name string
	now  func() time.Time
}

// GetToken gives what is no token anywhere else.
func (s stated) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: "simulated:" + s.name, ExpiresOn: s.now().Add(statedFor)}, nil
}

// asked is an error of a call that got no reply: which call, and who asked.
type asked struct {
	err  error
	call wire.Call
	by   *azurev1.IdentityView
}

// Error is the text of the error within.
func (a *asked) Error() string { return a.err.Error() }

// Unwrap gives the error within.
func (a *asked) Unwrap() error { return a.err }

// NonRetriable keeps the SDK from trying again.
func (a *asked) NonRetriable() {}

type identityKey struct{}

// asking puts to every request who asks, and to every error that is no reply what was asked too.
type asking struct {
	by      *azurev1.IdentityView
	through *sender
}

// Do sends the request on.
func (a asking) Do(req *policy.Request) (*http.Response, error) {
	req = req.WithContext(context.WithValue(req.Raw().Context(), identityKey{}, a.by))
	reply, err := req.Next()
	if err != nil {
		err = &asked{err: err, call: a.through.named(req.Raw()), by: a.by}
	}
	return reply, err
}

// byWhom names the identity that was denied something, and keeps its secret out of the message.
func byWhom(e *cloud.Error, i *azurev1.IdentityView) *cloud.Error {
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
