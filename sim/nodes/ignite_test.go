package nodes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/blang/semver/v4"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	upstream "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"
	upstreamignition "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/ignition"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/nodes"
	"github.com/muster-project/muster/test/memapi/served"
)

// ignitionData renders a join configuration as the bootstrap provider does for machines with Ignition.
func ignitionData(t *testing.T, s *served.Server) []byte {
	t.Helper()
	j := joinConfig(s)
	j.NodeRegistration.Name = "${COREOS_EC2_HOSTNAME}"
	v := semver.MustParse("1.30.2")
	config, err := kubeadmtypes.MarshalJoinConfigurationForVersion(j, v)
	if err != nil {
		t.Fatal(err)
	}
	in := &upstreamignition.NodeInput{NodeInput: &upstream.NodeInput{JoinConfiguration: config}, Ignition: &bootstrapv1.IgnitionSpec{}}
	in.KubernetesVersion = v
	in.PreKubeadmCommands = []string{"envsubst < /etc/kubeadm.yml > /etc/kubeadm.yml.tmp", "mv /etc/kubeadm.yml.tmp /etc/kubeadm.yml"}
	data, _, err := upstreamignition.NewNode(in)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestMachineWithIgnitionJoins(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, pointer string }{
		{reason: "the configuration itself"},
		{reason: "a pointer of version 2 to an object",
			pointer: `{"ignition":{"version":"2.3.0","config":{"append":[{"source":"s3://bucket/key"}]}}}`},
		{reason: "a pointer of version 3 to a signed URL",
			pointer: `{"ignition":{"version":"3.4.0","config":{"merge":[{"source":"https://h/key?X-Amz-Signature=s3cr3t"}]}}}`},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s := server(t, served.Options{})
			data := ignitionData(t, s)
			tries := 0
			f := fleet(t, nodes.Options{Fetch: func(_ context.Context, m sim.Machine, _ string) ([]byte, error) {
				if tries++; tries == 1 {
					return nil, errors.New("the bucket does not answer")
				}
				return data, nil
			}})
			m := machine("i-1", data)
			if tc.pointer != "" {
				m.UserData = []byte(tc.pointer)
			}
			f.PowerOn(m)
			if !s.Await(deadline(t), "nodes", "", hostname, ready) {
				t.Fatalf("no Ready node; console:\n%s", f.Console("i-1"))
			}
			if c := string(f.Console("i-1")); strings.Contains(c, "0123456789abcdef") || strings.Contains(c, "s3cr3t") {
				t.Errorf("a secret is on the console:\n%s", c)
			}
		})
	}
}

func TestMachineWithoutItsConfigurationDoesNotComeUp(t *testing.T) {
	t.Parallel()
	pointer := `{"ignition":{"version":"3.4.0","config":{"merge":[{"source":"s3://bucket/key"}]}}}`
	for _, tc := range []struct {
		reason, data string
		fetch        func(context.Context, sim.Machine, string) ([]byte, error)
		says         string
	}{
		{reason: "nowhere to fetch it from", data: pointer, says: "reaches nothing but its cluster"},
		{reason: "an object that is not there", data: pointer, says: "NoSuchKey",
			fetch: func(context.Context, sim.Machine, string) ([]byte, error) {
				return nil, fmt.Errorf("%w: NoSuchKey", nodes.ErrRefused)
			}},
		{reason: "an object that is something else", data: pointer, says: "no Ignition configuration",
			fetch: func(context.Context, sim.Machine, string) ([]byte, error) {
				return []byte("<html>"), nil
			}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			f := fleet(t, nodes.Options{Fetch: tc.fetch})
			f.PowerOn(machine("i-1", []byte(tc.data)))
			if c := awaitConsole(t, f, "does not come up"); !strings.Contains(c, tc.says) {
				t.Errorf("want %q on the console, got:\n%s", tc.says, c)
			}
		})
	}
}
