package session

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/oracle/oci-go-sdk/v65/common"

	"github.com/muster-project/muster/cloud"
)

const (
	metadataVariable   = "OCI_METADATA_BASE_URL"
	federationVariable = "OCI_SDK_AUTH_CLIENT_REGION_URL"
	metadataAddress    = "http://169.254.169.254/opc/v2"
)

// instancePrincipal requests tokens for the instance that the controller runs on: its metadata service has a certificate that identifies
// the instance, for which the federation service issues tokens.
type instancePrincipal struct{ sessions *Sessions }

// identityDocuments are the certificate of an instance with its key, the certificate that issued it, and the instance's region.
type identityDocuments struct {
	certificate, key, intermediate []byte
	region                         string
}

func (i *instancePrincipal) request(ctx context.Context, key *rsa.PrivateKey) (string, error) {
	is, err := i.read(ctx)
	if err != nil {
		return "", err
	}
	signedBy, err := is.signer()
	if err != nil {
		return "", err
	}
	public, err := publicPEM(key)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(map[string]any{"certificate": plain(is.certificate), "publicKey": plain(public),
		"intermediateCertificates": []string{plain(is.intermediate)}, "fingerprintAlgorithm": "SHA256"})
	if err != nil {
		return "", err
	}
	address := cmp.Or(i.sessions.options.Tokens.Federation, os.Getenv(federationVariable),
		common.StringToRegion(is.region).EndpointForTemplate("", publicAuth))
	r, err := http.NewRequest(http.MethodPost, strings.TrimRight(address, "/")+"/v1/x509", bytes.NewReader(body))
	if err != nil {
		return "", noCredentials(controller, "", "the address of the federation service is none")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	// The federation service signs no host (oci-go-sdk, common/auth).
	sign := common.RequestSigner(signedBy, []string{"date", "(request-target)"}, []string{"content-length", "content-type",
		"x-content-sha256"})
	if err := sign.Sign(r); err != nil {
		return "", err
	}
	answer, err := i.sessions.ask(ctx, i.sessions.transport, "Federate", r)
	if err != nil {
		return "", err
	}
	var out struct {
		Token string `json:"token"`
	}
	_ = json.Unmarshal(answer, &out) // what is no JSON has no token
	return out.Token, nil
}

// read reads the documents that identify the instance.
func (i *instancePrincipal) read(ctx context.Context) (is identityDocuments, err error) {
	var region []byte
	for _, one := range []struct {
		path string
		to   *[]byte
	}{
		{"/instance/region", &region}, {"/identity/cert.pem", &is.certificate}, {"/identity/key.pem", &is.key},
		{"/identity/intermediate.pem", &is.intermediate},
	} {
		address := cmp.Or(i.sessions.options.Tokens.Metadata, os.Getenv(metadataVariable), metadataAddress)
		r, err := http.NewRequest(http.MethodGet, strings.TrimRight(address, "/")+one.path, http.NoBody)
		if err != nil {
			return is, noCredentials(controller, "", "the address of the metadata service is none")
		}
		r.Header.Set("Authorization", "Bearer Oracle")
		if *one.to, err = i.sessions.ask(ctx, i.sessions.transport, "GetMetadata", r); err != nil {
			return is, err
		}
	}
	is.region = strings.TrimSpace(string(region))
	if !regions.MatchString(is.region) {
		is.region = string(common.StringToRegion(is.region)) // instances of the first regions have a short name
	}
	return is, checkRegion(is.region)
}

// signer returns the key of the instance's certificate, with its ID.
func (d identityDocuments) signer() (fixed, error) {
	unusable := func(why string) (fixed, error) {
		return fixed{}, &cloud.Error{Kind: cloud.Unavailable, Op: serviceTokens + ":GetMetadata", Code: cloud.CodeNoReply,
			Message: "the metadata of the instance " + why}
	}
	block, _ := pem.Decode(d.certificate)
	if block == nil {
		return unusable("has no certificate in PEM")
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return unusable("has a certificate that can't be read")
	}
	key, err := common.PrivateKeyFromBytes(d.key, nil)
	if err != nil || key == nil {
		return unusable("has no private key in PEM")
	}
	tenancy := ""
	for _, name := range certificate.Subject.Names {
		if text, is := name.Value.(string); is {
			if id, found := strings.CutPrefix(text, "opc-tenant:"); found {
				tenancy = id
			}
		}
	}
	if tenancy == "" {
		return unusable("has a certificate that names no tenancy")
	}
	print := strings.ReplaceAll(fmt.Sprintf("% x", sha256.Sum256(certificate.Raw)), " ", ":")
	return fixed{keyID: tenancy + "/fed-x509-sha256/" + print, key: key}, nil
}

// publicPEM returns the public part of a key in PEM.
func publicPEM(key *rsa.PrivateKey) ([]byte, error) {
	text, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: text}), nil
}

// plain returns what stands between the first and the last line of a PEM text, without line breaks.
func plain(text []byte) string {
	var out []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "-----") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return strings.Join(out, "")
}
