package kubeadm

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/muster-project/muster/sim/nodes/apiclient"
)

// Preflight reads what kubeadm reads before it touches the machine, with the bootstrap credentials, and refuses a node name that a
// living Node has.
func Preflight(ctx context.Context, a apiclient.Access, nodeName string, timeout time.Duration, m Host) error {
	c, err := apiclient.Open(a, m.Dial)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for _, name := range []string{"kubeadm-config", "kubelet-config"} {
		err := retry(ctx, m, "preflight", func(ctx context.Context) error {
			_, err := c.Core.ConfigMaps(metav1.NamespaceSystem).Get(ctx, name, metav1.GetOptions{})
			return err
		})
		if err != nil {
			return fmt.Errorf("unable to fetch the %s ConfigMap: %w", name, err)
		}
	}
	return nameIsFree(ctx, c, nodeName)
}

func nameIsFree(ctx context.Context, c *apiclient.Client, nodeName string) error {
	node, err := c.Core.Nodes().Get(ctx, nodeName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot get Node %q: %w", nodeName, err)
	}
	for _, cond := range node.Status.Conditions {
		if cond.Type == corev1.NodeReady && cond.Status == corev1.ConditionTrue {
			return fmt.Errorf("a Node with name %q and status %q already exists in the cluster. You must delete the existing Node or change the "+
				"name of this new joining Node", nodeName, corev1.NodeReady)
		}
	}
	return nil
}

// Bootstrap has a client certificate signed for the kubelet of a node and gives the access that it grants.
func Bootstrap(ctx context.Context, a apiclient.Access, nodeName string, timeout time.Duration, m Host) (apiclient.Access, error) {
	c, err := apiclient.Open(a, m.Dial)
	if err != nil {
		return a, err
	}
	defer c.Close()
	key, request, err := newRequest(nodeName)
	if err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	name := requestName(request)
	err = retry(ctx, m, "kubelet-start", func(ctx context.Context) error {
		_, err := c.Certificates.CertificateSigningRequests().Create(ctx, &certificatesv1.CertificateSigningRequest{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: certificatesv1.CertificateSigningRequestSpec{
				Request: request, SignerName: certificatesv1.KubeAPIServerClientKubeletSignerName,
				Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth},
			},
		}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("cannot create certificate signing request: %w", err)
		}
		return nil
	})
	if err != nil {
		return a, fmt.Errorf("failed while waiting for TLS bootstrap: %w", err)
	}
	m.Print("[kubelet-start] Certificate signing request %s was sent, waiting for its approval", name)
	cert, err := await(ctx, c, name, m)
	if err != nil {
		return a, fmt.Errorf("failed while waiting for TLS bootstrap: %w", err)
	}
	return apiclient.Access{Server: a.Server, CA: a.CA, Insecure: a.Insecure, Cert: cert, Key: key}, nil
}

// newRequest makes a key, which never leaves the machine, and a certificate request for it; both in PEM.
func newRequest(nodeName string) (key, request []byte, err error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("key of node %s: %w", nodeName, err)
	}
	der, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		return nil, nil, fmt.Errorf("key of node %s: %w", nodeName, err)
	}
	csr, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{Organization: []string{"system:nodes"}, CommonName: "system:node:" + nodeName},
	}, k)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate request of node %s: %w", nodeName, err)
	}
	key = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: csr}), nil
}

// requestName is a function of the request, so that a create whose reply was lost finds its own object again.
func requestName(request []byte) string {
	sum := sha256.Sum256(request)
	return "node-csr-" + hex.EncodeToString(sum[:16])
}

// await gives the certificate once it is there. A denied request is final, as a new one would be decided alike.
func await(ctx context.Context, c *apiclient.Client, name string, m Host) ([]byte, error) {
	var cert []byte
	selector := metav1.ListOptions{FieldSelector: "metadata.name=" + name}
	err := retryLong(ctx, m, func(ctx context.Context) error {
		list, err := c.Certificates.CertificateSigningRequests().List(ctx, selector)
		if err != nil {
			return fmt.Errorf("cannot read the certificate signing request: %w", err)
		}
		if len(list.Items) == 0 {
			return final("certificate signing request %s was deleted", name)
		}
		if cert, err = issued(&list.Items[0]); cert != nil || err != nil {
			return err
		}
		options := selector
		options.ResourceVersion = list.ResourceVersion
		w, err := c.Certificates.CertificateSigningRequests().Watch(ctx, options)
		if err != nil {
			return fmt.Errorf("cannot watch on the certificate signing request: %w", err)
		}
		defer w.Stop()
		cert, err = fromWatch(ctx, w, name)
		return err
	})
	return cert, err
}

// retryLong is retry without a bound on the single call: a watch lasts as long as nothing happens.
func retryLong(ctx context.Context, m Host, do func(context.Context) error) error {
	return retry(ctx, m, "kubelet-start", func(context.Context) error { return do(ctx) })
}

func fromWatch(ctx context.Context, w watch.Interface, name string) ([]byte, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("certificate signing request %s was neither approved and issued nor denied", name)
		case e, ok := <-w.ResultChan():
			if !ok {
				return nil, fmt.Errorf("the watch on certificate signing request %s ended", name)
			}
			if e.Type == watch.Deleted {
				return nil, final("certificate signing request %s was deleted", name)
			}
			csr, ok := e.Object.(*certificatesv1.CertificateSigningRequest)
			if !ok {
				return nil, fmt.Errorf("the watch on certificate signing request %s failed: %w", name, apierrors.FromObject(e.Object))
			}
			if cert, err := issued(csr); cert != nil || err != nil {
				return cert, err
			}
		}
	}
}

// issued is the certificate of a request, nil while it is not there yet.
func issued(csr *certificatesv1.CertificateSigningRequest) ([]byte, error) {
	approved := false
	for _, c := range csr.Status.Conditions {
		switch c.Type {
		case certificatesv1.CertificateDenied:
			return nil, final("certificate signing request is denied, reason: %s, message: %s", c.Reason, c.Message)
		case certificatesv1.CertificateFailed:
			return nil, final("certificate signing request failed, reason: %s, message: %s", c.Reason, c.Message)
		case certificatesv1.CertificateApproved:
			approved = true
		}
	}
	if !approved || len(csr.Status.Certificate) == 0 {
		return nil, nil
	}
	return csr.Status.Certificate, nil
}
