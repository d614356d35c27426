package container

import (
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"strings"
	"time"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/document"
	"github.com/muster-project/muster/sim/gcp/project"
)

// authorityLife is the validity of a cluster's CA certificate.
const authorityLife = 30 * 365 * 24 * time.Hour

// addressOf returns the address of a new cluster's control plane, one of those that are reserved for documentation.
func addressOf(seed sim.Seed, c *Cluster) string {
	return fmt.Sprintf("203.0.113.%d", 1+int(seed.Chance("gke-address", c.ID)*253))
}

// authority returns the certificate of a new cluster's own CA, in PEM. Nothing is signed with it.
func authority(seed sim.Seed, c *Cluster) []byte {
	key := ed25519.NewKeyFromSeed([]byte(seed.Hex(ed25519.SeedSize, "gke-ca", c.ID)))
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: c.ID}, NotBefore: c.Created, NotAfter: c.Created.Add(authorityLife),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(nil, form, form, key.Public(), key)
	if err != nil {
		return nil // never: the form is complete
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// showEndpoints adds how a cluster that was created is reached: its API server, or one that only has an address.
func (c *Cluster) showEndpoints(d document.Object) {
	host, ca := hostOf(c.Access.Endpoint), c.Access.CA
	if host == "" {
		host, ca = c.Address, c.CA
	}
	private := "10.128.0." + c.Address[strings.LastIndexByte(c.Address, '.')+1:]
	d["endpoint"] = host
	document.Place(d, "masterAuth.clusterCaCertificate", base64.StdEncoding.EncodeToString(ca))
	d["privateClusterConfig"] = document.Object{"privateEndpoint": private, "publicEndpoint": host}
	for path, v := range map[string]any{
		"dnsEndpointConfig.allowExternalTraffic": false, "dnsEndpointConfig.enableK8sCertsViaDns": false,
		"dnsEndpointConfig.enableK8sTokensViaDns": false, "ipEndpointsConfig.enabled": true, "ipEndpointsConfig.enablePublicEndpoint": true,
		"ipEndpointsConfig.authorizedNetworksConfig.gcpPublicCidrsAccessEnabled": true,
	} {
		document.Preset(d, "controlPlaneEndpointsConfig."+path, v)
	}
	for path, v := range map[string]string{
		"dnsEndpointConfig.endpoint":       "gke-" + c.ID[:36] + "-" + project.DefaultNumber + "." + c.Location + ".gke.goog",
		"ipEndpointsConfig.publicEndpoint": host, "ipEndpointsConfig.privateEndpoint": private,
	} {
		document.Place(d, "controlPlaneEndpointsConfig."+path, v)
	}
}

// hostOf is the host and port of a URL.
func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return u.Host
}
