package nodes_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/blang/semver/v4"
	"github.com/google/go-cmp/cmp"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"

	"github.com/muster-project/muster/sim/nodes/kubeadm"
)

// joins fails when what is accepted could not lead to a cluster.
func joins(t *testing.T, from string, j *kubeadm.Join) {
	t.Helper()
	id, secret := kubeadm.SplitToken(j.Token)
	byToken := j.Endpoint != "" && len(id) == 6 && len(secret) == 16 && (len(j.CAHashes) > 0 || j.SkipCA)
	if byToken == (j.File != "") {
		t.Errorf("%q: want a server with a token and pins, or a file, and not both, got %+v", from, j)
	}
	if j.DiscoveryTimeout <= 0 || j.BootstrapTimeout <= 0 || j.APITimeout <= 0 {
		t.Errorf("%q: want every stage to end, got %+v", from, j)
	}
}

// FuzzFindCommand holds that a shell line is either no join or one that can lead to a cluster.
func FuzzFindCommand(f *testing.F) {
	for _, line := range []string{
		"kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml  && echo success > /run/cluster-api/bootstrap-success.complete",
		"kubeadm join h:1 --token " + token, "sudo kubeadm join h:1 --token=" + token + " --discovery-token-ca-cert-hash sha256:ab --v=5; reboot",
		"kubeadm join --discovery-file /f --tls-bootstrap-token x",
		"kubeadm join h:1 --discovery-token-unsafe-skip-ca-verification --token " + token, "kubeadm join --", "kubeadm reset -f",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		c := kubeadm.FindCommand(line)
		if c == nil {
			return
		}
		j, err := c.Join(func(string) ([]byte, bool) { return nil, false })
		if (err == nil) && j != nil {
			joins(t, line, j)
		}
		if c.Verb != "join" && err == nil {
			t.Errorf("%q: want %s refused", line, c.Verb)
		}
	})
}

// FuzzParseConfig holds that a file is either refused, without showing its token, or leads to a cluster, and is read alike
// every time.
func FuzzParseConfig(f *testing.F) {
	for _, yaml := range []string{
		"apiVersion: kubeadm.k8s.io/v1beta4\nkind: JoinConfiguration\ndiscovery:\n  bootstrapToken:\n    apiServerEndpoint: h:6443\n    token: " +
			token + "\n    caCertHashes: ['sha256:ab']\nnodeRegistration:\n  kubeletExtraArgs:\n  - {name: cloud-provider, value: " +
			"external}\ntimeouts:\n  discovery: 10s\n",
		"apiVersion: kubeadm.k8s.io/v1beta3\nkind: JoinConfiguration\ndiscovery:\n  file: {kubeConfigPath: /f}\n  tlsBootstrapToken: " + token +
			"\n  timeout: -5m\n",
		"---\nkind: KubeletConfiguration\n---\napiVersion: kubeadm.k8s.io/v1beta2\nkind: JoinConfiguration\ncontrolPlane: {}\n", "kind: [",
		"a: &a [*a]", "--- \n---\n---",
	} {
		f.Add([]byte(yaml))
	}
	f.Fuzz(func(t *testing.T, yaml []byte) {
		j, err := kubeadm.ParseConfig(yaml)
		again, errAgain := kubeadm.ParseConfig(yaml)
		if diff := cmp.Diff(j, again); diff != "" || (err == nil) != (errAgain == nil) {
			t.Fatalf("want the same twice, got %s, %v, %v", diff, err, errAgain)
		}
		if err == nil {
			joins(t, string(yaml), j)
			return
		}
		// The kind's version is quoted, and nothing else.
		if strings.Contains(err.Error(), token) && !strings.HasPrefix(err.Error(), "no kind") {
			t.Errorf("want no token in an error, got %v", err)
		}
	})
}

// FuzzRenderedConfig holds that what the bootstrap provider writes is read back as it was meant, in every version of
// kubeadm's API.
func FuzzRenderedConfig(f *testing.F) {
	f.Add("ip-10-0-1-23.eu-west-1.compute.internal", "h:6443", "sha256:ab", "node-labels", "a=b,c=d", int32(30))
	f.Add("{{ ds.meta_data.local_hostname }}", "[::1]:6443", "", "v", "true", int32(0))
	f.Add("012", "1e3", "~", "null", "0x10", int32(-1))
	f.Fuzz(func(t *testing.T, name, endpoint, hash, arg, value string, seconds int32) {
		for _, text := range []string{name, endpoint, hash, arg, value} {
			if !utf8.ValidString(text) {
				return
			}
		}
		// An argument of the name << is YAML's merge key in the provider's document.
		if endpoint == "" || arg == "" || arg == "<<" || seconds < 0 {
			return
		}
		in := &bootstrapv1.JoinConfiguration{
			NodeRegistration: bootstrapv1.NodeRegistrationOptions{Name: name, KubeletExtraArgs: []bootstrapv1.Arg{{Name: arg, Value: &value}}},
			Discovery: bootstrapv1.Discovery{BootstrapToken: bootstrapv1.BootstrapTokenDiscovery{Token: token, APIServerEndpoint: endpoint,
				CACertHashes: []string{hash}}},
			Timeouts: bootstrapv1.Timeouts{DiscoverySeconds: &seconds},
		}
		for _, version := range []string{"1.25.0", "1.36.3"} {
			yaml, err := kubeadmtypes.MarshalJoinConfigurationForVersion(in, semver.MustParse(version))
			if err != nil {
				return // The provider itself refuses: control characters can't stand in its document.
			}
			j, err := kubeadm.ParseConfig([]byte(yaml))
			if err != nil {
				t.Fatalf("%s: %v in\n%s", version, err, yaml)
			}
			if j.NodeName != name || j.Endpoint != endpoint || j.Token != token || len(j.CAHashes) != 1 || j.CAHashes[0] != hash ||
				j.KubeletArgs[arg] != value {
				t.Errorf("%s: want %+v, got %+v from\n%s", version, in, j, yaml)
			}
			// Before v1beta4 there is one timeout, and the provider fills it from another field.
			if version == "1.36.3" && seconds > 0 && int32(j.DiscoveryTimeout.Seconds()) != seconds {
				t.Errorf("%s: want %d seconds for discovery, got %s", version, seconds, j.DiscoveryTimeout)
			}
		}
	})
}
