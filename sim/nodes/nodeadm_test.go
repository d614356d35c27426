package nodes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/muster-project/muster/sim/nodes/nodeadm"
)

func TestParseNodeConfig(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, text string
		want         *nodeadm.Config
		err          string
	}{
		{reason: "what EKS's own templates write",
			text: "---\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  cluster:\n    name: c\n    apiServerEndpoint: https://h\n   " +
				" certificateAuthority: Y2E=\n    cidr: 10.100.0.0/16\n",
			want: &nodeadm.Config{Cluster: "c", Server: "https://h", CA: []byte("ca"), Flags: map[string]string{}}},
		{reason: "the kubelet alone, which EKS puts beside its own",
			text: "kind: NodeConfig\nspec: {kubelet: {config: {maxPods: 30}, flags: [\"--node-labels=a=b,c=d\", \"--register-with-taints " +
				"x=y:NoSchedule\"]}}",
			want: &nodeadm.Config{CA: []byte{}, MaxPods: 30,
				Flags: map[string]string{"node-labels": "a=b,c=d", "register-with-taints": "x=y:NoSchedule"}}},
		{reason: "no YAML", text: "a: b: secret", err: "not YAML"},
		{reason: "something else", text: "kind: Secret", err: "kind is none"},
		{reason: "an authority that is none", text: "kind: NodeConfig\nspec: {cluster: {certificateAuthority: secret}}", err: "not base64"},
	} {
		got, err := nodeadm.Parse([]byte(tc.text))
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: want an error with %q and nothing of the text, got %v", tc.reason, tc.err, err)
			}
			continue
		}
		if tc.want.CA == nil {
			tc.want.CA = []byte{}
		}
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
		}
	}
}

func TestAddNodeConfig(t *testing.T) {
	t.Parallel()
	c := &nodeadm.Config{Cluster: "c", Server: "https://h", CA: []byte("ca"), Flags: map[string]string{"a": "1", "b": "1"}}
	c.Add(&nodeadm.Config{Server: "https://other", MaxPods: 5, Flags: map[string]string{"b": "2"}})
	want := &nodeadm.Config{Cluster: "c", Server: "https://other", CA: []byte("ca"), MaxPods: 5, Flags: map[string]string{"a": "1", "b": "2"}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("what a later document does not say stays (-want +got):\n%s", diff)
	}
}

func TestFindBootstrap(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, line string
		want         *nodeadm.Config
	}{
		{"another command", "yum install -y amazon-ssm-agent", nil},
		{"the name alone", "/etc/eks/bootstrap.sh my-cluster", &nodeadm.Config{Cluster: "my-cluster"}},
		{"as the EKS bootstrap provider writes it",
			`/etc/eks/bootstrap.sh default_c --kubelet-extra-args '--node-labels=pool=a --max-pods 20' --container-runtime containerd --b64-cluster-ca Y2E= --apiserver-endpoint "https://h"`,
			&nodeadm.Config{Cluster: "default_c", Server: "https://h", CA: []byte("ca"),
				Flags: map[string]string{"node-labels": "pool=a", "max-pods": "20"}}},
		{"flags before the name", "bash /etc/eks/bootstrap.sh --use-max-pods=false c", &nodeadm.Config{Cluster: "c"}},
	} {
		if diff := cmp.Diff(tc.want, nodeadm.FindBootstrap(tc.line)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
		}
	}
}

func FuzzNodeConfig(f *testing.F) {
	f.Add([]byte("kind: NodeConfig\nspec: {kubelet: {flags: ['--a=b']}}"), "/etc/eks/bootstrap.sh c --kubelet-extra-args '--a b'")
	f.Fuzz(func(t *testing.T, text []byte, line string) {
		c, err := nodeadm.Parse(text)
		if (c == nil) == (err == nil) {
			t.Fatalf("want either, got %v and %v", c, err)
		}
		if b := nodeadm.FindBootstrap(line); (b == nil) != !strings.Contains(line, "/etc/eks/bootstrap.sh") {
			t.Fatalf("%q: got %v", line, b)
		}
	})
}
