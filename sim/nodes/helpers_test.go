package nodes_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	upstream "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/nodes"
	"github.com/muster-project/muster/test/memapi/served"
)

// limit is the time that a test waits for an expected event; only a failure takes that long.
const limit = 30 * time.Second

// cloudSpeed is the speed of clouds whose machines join a server. They give up a machine that has not joined after 20 or 35 minutes of
// life, while its join takes the time that this machine needs for it: several seconds beside a build.
const cloudSpeed = 100

func server(t *testing.T, o served.Options) *served.Server {
	t.Helper()
	s, err := served.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// put stores an object as it is.
func put(t *testing.T, s *served.Server, o client.Object) {
	t.Helper()
	if err := s.Put(o); err != nil {
		t.Fatal(err)
	}
}

// fleet is a fast one whose machines end with the test.
func fleet(t *testing.T, o nodes.Options) *nodes.Fleet {
	t.Helper()
	if o.Speed == 0 {
		o.Speed = 500
	}
	f := nodes.New(o)
	t.Cleanup(f.Close)
	return f
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// joinConfig is a pool's, as the seeds have it. Its stages last longer than any test waits: how fast this machine is decides nothing.
func joinConfig(s *served.Server) *bootstrapv1.JoinConfiguration {
	return &bootstrapv1.JoinConfiguration{
		NodeRegistration: bootstrapv1.NodeRegistrationOptions{
			Name: "{{ ds.meta_data.local_hostname }}", KubeletExtraArgs: []bootstrapv1.Arg{{Name: "cloud-provider", Value: ptr.To("aws")},
				{Name: "node-labels", Value: ptr.To("team=blue")}},
			Taints: ptr.To([]corev1.Taint{{Key: "node.cluster.x-k8s.io/uninitialized", Effect: corev1.TaintEffectNoSchedule}}),
		},
		Discovery: bootstrapv1.Discovery{BootstrapToken: bootstrapv1.BootstrapTokenDiscovery{Token: served.Token,
			APIServerEndpoint: s.Endpoint(), CACertHashes: []string{s.Pin()}}},
		Timeouts: bootstrapv1.Timeouts{DiscoverySeconds: ptr.To[int32](60), TLSBootstrapSeconds: ptr.To[int32](60),
			KubernetesAPICallSeconds: ptr.To[int32](60)},
	}
}

// impatient gives up one stage of a join after three seconds; the others keep their time.
func impatient(s *served.Server, stage func(*bootstrapv1.Timeouts) **int32) *bootstrapv1.JoinConfiguration {
	j := joinConfig(s)
	*stage(&j.Timeouts) = ptr.To[int32](3)
	return j
}

func discovery(t *bootstrapv1.Timeouts) **int32    { return &t.DiscoverySeconds }
func tlsBootstrap(t *bootstrapv1.Timeouts) **int32 { return &t.TLSBootstrapSeconds }
func apiCall(t *bootstrapv1.Timeouts) **int32      { return &t.KubernetesAPICallSeconds }

// userData renders a join configuration as the bootstrap provider does for a Kubernetes version.
func userData(t *testing.T, j *bootstrapv1.JoinConfiguration, version string, change func(*upstream.NodeInput)) []byte {
	t.Helper()
	v := semver.MustParse(version)
	config, err := kubeadmtypes.MarshalJoinConfigurationForVersion(j, v)
	if err != nil {
		t.Fatal(err)
	}
	in := &upstream.NodeInput{JoinConfiguration: config}
	in.KubernetesVersion = v
	if change != nil {
		change(in)
	}
	data, err := upstream.NewNode(in)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func machine(id string, data []byte) sim.Machine {
	return sim.Machine{
		Cloud: "aws", Region: "eu-west-1", Zone: "eu-west-1a", ID: id, ProviderID: "aws:///eu-west-1a/" + id,
		Hostname: "ip-10-0-1-23.eu-west-1.compute.internal", Address: "10.0.1.23",
		Type: "m5.large", CPUs: 2, MemoryMiB: 8192, KubeletVersion: "v1.25.0", UserData: data, Launched: time.Now(),
	}
}

const hostname = "ip-10-0-1-23.eu-west-1.compute.internal"

func ready(o apiruntime.Object) bool {
	n, ok := o.(*corev1.Node)
	if !ok || n == nil {
		return false
	}
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func exists(o apiruntime.Object) bool { return o != nil }

// awaitConsole waits until machine i-1 has printed something. The console has no watch, as in a cloud, so it is read again and again.
func awaitConsole(t *testing.T, f *nodes.Fleet, want string) string {
	t.Helper()
	const id = "i-1"
	ctx := deadline(t)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if c := string(f.Console(id)); strings.Contains(c, want) {
			return c
		}
		select {
		case <-ctx.Done():
			t.Fatalf("want %q on the console of %s, got:\n%s", want, id, f.Console(id))
		case <-tick.C:
		}
	}
}
