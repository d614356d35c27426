package session

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/muster-project/muster/cloud/wire"
)

const (
	// workloadVersionVariable is set for controllers that have the identity of their workload, workloadRegionVariable to their region.
	workloadVersionVariable = "OCI_RESOURCE_PRINCIPAL_VERSION"
	workloadRegionVariable  = "OCI_RESOURCE_PRINCIPAL_REGION"
	serverVariable          = "KUBERNETES_SERVICE_HOST"
	workloadPort            = "12250"
	serviceAccount          = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// workloadIdentity requests tokens for the controller's service account in an enhanced cluster of OKE.
type workloadIdentity struct {
	sessions *Sessions
	once     sync.Once
	to       *wire.Transport
	err      error
}

func (w *workloadIdentity) request(ctx context.Context, key *rsa.PrivateKey) (string, error) {
	account := directory(cmp.Or(w.sessions.options.Tokens.ServiceAccount, serviceAccount))
	bearer, err := account.read("token")
	if err != nil || bearer == "" {
		return "", noCredentials(controller, "", "there is no token of a service account in "+string(account))
	}
	to, err := w.transport(account)
	if err != nil {
		return "", err
	}
	address := w.sessions.options.Tokens.Workload
	if host := os.Getenv(serverVariable); address == "" && host != "" {
		address = "https://" + net.JoinHostPort(host, workloadPort)
	}
	public, err := publicPEM(key)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(map[string]string{"podKey": string(public)})
	if err != nil {
		return "", err
	}
	r, err := http.NewRequest(http.MethodPost, strings.TrimRight(address, "/")+"/resourcePrincipalSessionTokens", bytes.NewReader(body))
	if err != nil || r.URL.Host == "" {
		return "", noCredentials(controller, "", "the identity of a workload is for a controller that runs in an enhanced cluster of OKE")
	}
	r.Header.Set("Authorization", "Bearer "+bearer)
	r.Header.Set("Content-Type", "application/json")
	answer, err := w.sessions.ask(ctx, to, "GetWorkloadToken", r)
	if err != nil {
		return "", err
	}
	return workloadToken(answer), nil
}

// workloadToken returns the token in an answer: a JSON text of the base64 of a document with the ID of the key. It is empty where the
// answer has another form.
func workloadToken(answer []byte) string {
	var encoded string
	var out struct {
		Token string `json:"token"`
	}
	if json.Unmarshal(answer, &encoded) != nil {
		return ""
	}
	text, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || json.Unmarshal(text, &out) != nil {
		return ""
	}
	return strings.TrimPrefix(out.Token, securityToken)
}

// transport returns the transport to the API server of the cluster, whose certificates the service account has.
func (w *workloadIdentity) transport(account directory) (*wire.Transport, error) {
	w.once.Do(func() {
		if w.to = w.sessions.transport; w.sessions.options.Base != nil {
			return
		}
		name := os.Getenv("OCI_KUBERNETES_SERVICE_ACCOUNT_CERT_PATH")
		authorities, err := os.ReadFile(cmp.Or(name, string(account)+"/ca.crt"))
		if err != nil {
			w.err = noCredentials(controller, "", "there are no certificates of the cluster in "+string(account))
			return
		}
		base, err := trusting(string(authorities))
		if w.err = err; err == nil {
			w.to = w.sessions.transportOver(base)
		}
	})
	return w.to, w.err
}
