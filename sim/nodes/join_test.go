package nodes_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	upstream "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"

	"github.com/muster-project/muster/sim/nodes"
	"github.com/muster-project/muster/test/memapi/served"
)

func TestMachineJoins(t *testing.T) {
	t.Parallel()
	zipped := func(b []byte) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write(b)
		_ = z.Close()
		return out.Bytes()
	}
	cases := map[string]struct {
		reason string
		data   func(t *testing.T, s *served.Server) []byte
		name   string
	}{
		"v1beta3": {"kubelet arguments are a mapping up to Kubernetes 1.30",
			func(t *testing.T, s *served.Server) []byte { return userData(t, joinConfig(s), "1.25.0", nil) }, hostname},
		"v1beta4": {"and a list since 1.31", func(t *testing.T, s *served.Server) []byte { return userData(t, joinConfig(s), "1.33.0", nil) },
			hostname},
		"gzip": {"clouds limit user data, so it is zipped",
			func(t *testing.T, s *served.Server) []byte { return zipped(userData(t, joinConfig(s), "1.25.0", nil)) }, hostname},
		"default name": {"without a name the hostname counts", func(t *testing.T, s *served.Server) []byte {
			j := joinConfig(s)
			j.NodeRegistration.Name = ""
			return userData(t, j, "1.25.0", nil)
		}, hostname},
		"no pin": {"a configuration may do without a pin when it says so", func(t *testing.T, s *served.Server) []byte {
			j := joinConfig(s)
			j.Discovery.BootstrapToken.CACertHashes, j.Discovery.BootstrapToken.UnsafeSkipCAVerification = nil, ptr.To(true)
			return userData(t, j, "1.25.0", nil)
		}, hostname},
		"file discovery": {"a kubeconfig in the user data replaces discovery by token", func(t *testing.T, s *served.Server) []byte {
			j := joinConfig(s)
			j.Discovery = bootstrapv1.Discovery{File: bootstrapv1.FileDiscovery{KubeConfigPath: "/etc/kubernetes/discovery.conf"},
				TLSBootstrapToken: served.Token}
			kubeconfig := fmt.Sprintf("apiVersion: v1\nkind: Config\nclusters:\n- name: c\n  cluster:\n    server: https://%s\n    "+
				"certificate-authority: /etc/ca.crt\ncontexts:\n- name: c\n  context: {cluster: c, user: u}\ncurrent-context: c\nusers:\n- name: u\n "+
				" user: {token: %s}\n", s.Endpoint(), served.Token)
			return userData(t, j, "1.25.0", func(in *upstream.NodeInput) {
				in.AdditionalFiles = []bootstrapv1.File{{Path: "/etc/kubernetes/discovery.conf", Content: kubeconfig, Permissions: "0600"},
					{Path: "/etc/ca.crt", Content: string(s.CA())}}
			})
		}, hostname},
		"command line": {"hand-made user data calls kubeadm with flags", func(_ *testing.T, s *served.Server) []byte {
			return fmt.Appendf(nil, "#cloud-config\nruncmd:\n- [kubeadm, join, %q, --token, %s, --discovery-token-ca-cert-hash, %q, --node-name, "+
				"by-hand]\n", s.Endpoint(), served.Token, s.Pin())
		}, "by-hand"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
			f.PowerOn(machine("i-1", c.data(t, s)))
			if !s.Await(deadline(t), "nodes", "", c.name, ready) {
				t.Fatalf("%s: want a Ready node %s, found none; console:\n%s", c.reason, c.name, f.Console("i-1"))
			}
			if console := string(f.Console("i-1")); strings.Contains(console, "0123456789abcdef") {
				t.Errorf("the token's secret is on the console:\n%s", console)
			}
		})
	}
}

func TestNodeIsWhatTheCloudAndTheTemplateSay(t *testing.T) {
	t.Parallel()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	f.PowerOn(machine("i-1", userData(t, joinConfig(s), "1.25.0", nil)))
	var node *corev1.Node
	if !s.Await(deadline(t), "nodes", "", hostname, func(o apiruntime.Object) bool {
		if ready(o) {
			node = o.DeepCopyObject().(*corev1.Node)
		}
		return node != nil
	}) {
		t.Fatalf("no Ready node; console:\n%s", f.Console("i-1"))
	}
	for _, c := range []struct{ what, want, got string }{
		{"provider ID", "aws:///eu-west-1a/i-1", node.Spec.ProviderID},
		{"zone", "eu-west-1a", node.Labels["topology.kubernetes.io/zone"]},
		{"region", "eu-west-1", node.Labels["topology.kubernetes.io/region"]},
		{"old zone label", "eu-west-1a", node.Labels["failure-domain.beta.kubernetes.io/zone"]},
		{"instance type", "m5.large", node.Labels["node.kubernetes.io/instance-type"]},
		{"label of the template", "blue", node.Labels["team"]},
		{"hostname", hostname, node.Labels["kubernetes.io/hostname"]},
		{"architecture", "amd64", node.Labels["kubernetes.io/arch"]},
		{"kubelet version", "v1.25.0", node.Status.NodeInfo.KubeletVersion},
		{"cpu", "2", node.Status.Capacity.Cpu().String()},
		{"memory", "8Gi", node.Status.Capacity.Memory().String()},
		{"pods", "110", node.Status.Allocatable.Pods().String()},
		{"address", "10.0.1.23", node.Status.Addresses[0].Address},
		{"taints", "node.cluster.x-k8s.io/uninitialized=:NoSchedule",
			fmt.Sprintf("%s=%s:%s", node.Spec.Taints[0].Key, node.Spec.Taints[0].Value, node.Spec.Taints[0].Effect)},
	} {
		if c.got != c.want {
			t.Errorf("%s: want %q, got %q", c.what, c.want, c.got)
		}
	}
}

func TestLeaseAndCredentials(t *testing.T) {
	t.Parallel()
	s, f := server(t, served.Options{}), fleet(t, nodes.Options{})
	f.PowerOn(machine("i-1", userData(t, joinConfig(s), "1.25.0", nil)))
	if !s.Await(deadline(t), "leases", "kube-node-lease", hostname, func(o apiruntime.Object) bool {
		l, ok := o.(*coordinationv1.Lease)
		return ok && l != nil && len(l.OwnerReferences) == 1 && l.OwnerReferences[0].UID != "" && l.OwnerReferences[0].Name == hostname &&
			ptr.Deref(l.Spec.LeaseDurationSeconds, 0) == 40
	}) {
		t.Error("want a lease of 40 s that the node owns, found none")
	}
	for _, call := range s.Calls() {
		if strings.HasPrefix(call, "system:bootstrap:abcdef ") && strings.HasSuffix(call, " pods") {
			t.Errorf("the bootstrap token was used for %q: only the node's own certificate may be", call)
		}
	}
}

// failedJoin is a machine that does not become a node, and what its console says about it.
type failedJoin struct {
	reason string
	sign   served.SigningDecision
	refuse func(user, verb, path string) int
	data   func(t *testing.T, s *served.Server) []byte
	want   string
}

// failedJoins by name.
var failedJoins = map[string]failedJoin{"unknown token": {reason: "its id is not in cluster-info",
	data: func(t *testing.T, s *served.Server) []byte {
		j := impatient(s, discovery)
		j.Discovery.BootstrapToken.Token = "zzzzzz.0123456789abcdef"
		return userData(t, j, "1.33.0", nil)
	}, want: `could not find a JWS signature in the cluster-info ConfigMap for token ID "zzzzzz"`},
	"wrong secret": {reason: "the signature does not verify, which no retry mends", data: func(t *testing.T, s *served.Server) []byte {
		j := joinConfig(s)
		j.Discovery.BootstrapToken.Token = "abcdef.ffffffffffffffff"
		return userData(t, j, "1.33.0", nil)
	}, want: "failed to verify JWS signature"},
	"expired token": {reason: "the token cleaner has removed it", data: func(t *testing.T, s *served.Server) []byte {
		if err := s.ExpireToken(served.Token); err != nil {
			t.Fatal(err)
		}
		return userData(t, impatient(s, discovery), "1.33.0", nil)
	}, want: "or it has expired"},
	"token expires between discovery and bootstrap": {reason: "the API server knows it no more", refuse: func(user, _, path string) int {
		if strings.Contains(path, "certificatesigningrequests") && strings.HasPrefix(user, "system:bootstrap:") {
			return 401
		}
		return 0
	}, data: func(t *testing.T, s *served.Server) []byte {
		return userData(t, impatient(s, tlsBootstrap), "1.33.0", nil)
	}, want: "failed while waiting for TLS bootstrap: timed out: cannot create certificate signing request"},
	"wrong pin": {reason: "another cluster's CA", data: func(t *testing.T, s *served.Server) []byte {
		j := joinConfig(s)
		j.Discovery.BootstrapToken.CACertHashes = []string{"sha256:" + strings.Repeat("ab", 32)}
		return userData(t, j, "1.33.0", nil)
	}, want: "are pinned"},
	"server away": {reason: "nothing listens there", data: func(t *testing.T, s *served.Server) []byte {
		j := impatient(s, discovery)
		j.Discovery.BootstrapToken.APIServerEndpoint = "127.0.0.1:1"
		return userData(t, j, "1.33.0", nil)
	}, want: "connection refused"},
	"denied": {reason: "an approver refuses", sign: served.Deny,
		data: func(t *testing.T, s *served.Server) []byte { return userData(t, joinConfig(s), "1.33.0", nil) },
		want: "certificate signing request is denied, reason: NotWanted"},
	"failed": {reason: "the signer fails", sign: served.Fail,
		data: func(t *testing.T, s *served.Server) []byte { return userData(t, joinConfig(s), "1.33.0", nil) },
		want: "certificate signing request failed"},
	"no answer": {reason: "no approver runs", sign: served.Silence, data: func(t *testing.T, s *served.Server) []byte {
		return userData(t, impatient(s, tlsBootstrap), "1.33.0", nil)
	}, want: "was neither approved and issued nor denied"},
	"no kubeadm-config": {reason: "the cluster was not made by kubeadm", refuse: func(_, _, path string) int {
		if strings.HasSuffix(path, "/kubeadm-config") {
			return 500
		}
		return 0
	}, data: func(t *testing.T, s *served.Server) []byte {
		return userData(t, impatient(s, apiCall), "1.33.0", nil)
	}, want: "unable to fetch the kubeadm-config ConfigMap"},
	"name in use": {reason: "kubeadm protects a living node", data: func(t *testing.T, s *served.Server) []byte {
		put(t, s, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: hostname},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}})
		return userData(t, joinConfig(s), "1.33.0", nil)
	}, want: "already exists in the cluster"},
	"not cloud-init": {reason: "bootstrap data of another kind", data: func(*testing.T, *served.Server) []byte { return []byte("hello\n") },
		want: "unhandled non-multipart"},
	"ignition": {reason: "the other format that the bootstrap provider writes",
		data: func(*testing.T, *served.Server) []byte { return []byte(`{"ignition":{"version":"2.3.0"}}`) }, want: "has not joined a cluster"},
	"empty": {reason: "a template without user data", data: func(*testing.T, *served.Server) []byte { return nil },
		want: "user data is empty"},
	"unknown variable": {reason: "the node name cannot be one", data: func(t *testing.T, s *served.Server) []byte {
		j := joinConfig(s)
		j.NodeRegistration.Name = "{{ ds.meta_data.nickname }}"
		return userData(t, j, "1.33.0", nil)
	}, want: "could not render jinja template variables in the user data: ds.meta_data.nickname"},
	"control plane": {reason: "a pool has workers only", data: func(*testing.T, *served.Server) []byte {
		return []byte("#cloud-config\nruncmd: [kubeadm init --config /run/kubeadm/kubeadm.yaml]\n")
	}, want: "kubeadm init: a simulated machine can only join as a worker"},
	"no file": {reason: "the command names a file that nothing wrote", data: func(*testing.T, *served.Server) []byte {
		return []byte("#cloud-config\nruncmd: [kubeadm join --config /nowhere]\n")
	}, want: `unable to read config from "/nowhere"`},
}

func TestMachineThatCannotJoinSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range failedJoins {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := server(t, served.Options{Sign: func(string) served.SigningDecision { return c.sign }})
			if c.refuse != nil {
				s.Refuse(c.refuse)
			}
			f := fleet(t, nodes.Options{})
			f.PowerOn(machine("i-1", c.data(t, s)))
			console := awaitConsole(t, f, "has not joined a cluster")
			if !strings.Contains(console, c.want) {
				t.Errorf("%s: want %q on the console, got:\n%s", c.reason, c.want, console)
			}
			if strings.Contains(console, "0123456789abcdef") || strings.Contains(console, "ffffffffffffffff") {
				t.Errorf("the token's secret is on the console:\n%s", console)
			}
		})
	}
}
