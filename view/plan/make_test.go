package plan_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/api/common"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/view/plan"
)

var update = flag.Bool("update", false, "write the golden files")

func manifest(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for doc := range strings.SplitSeq(text, "---\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &u.Object); err != nil {
			t.Fatal(err)
		}
		out = append(out, u)
	}
	return out
}

func named(r *plan.Request) { r.Kind, r.Name = "machinepool", "workers" }

func strategy(o *awsv1.AWSMachinePool) {
	o.Spec.Strategy = &awsv1.Strategy{Type: awsv1.StrategyRollingUpdate, RollingUpdate: &common.RollingUpdate{
		MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(1)), DeletePolicy: common.DeletePolicyOldest}}
}

// byGroup leaves machines to the group's own refresh.
func byGroup(o *awsv1.AWSMachinePool) {
	o.Spec.Strategy = &awsv1.Strategy{Type: awsv1.StrategyInstanceRefresh}
}

// makeCases are the cases of TestMake.
var makeCases = []struct {
	name, why string
	infra     func(*awsv1.AWSMachinePool)
	world     func(*world)
	request   func(*testing.T, *plan.Request)
}{
	{name: "nothing", why: "a pool that is as asked stays", infra: strategy, request: func(_ *testing.T, r *plan.Request) { named(r) }},
	{name: "instance-type", why: "a field of the template replaces machines, in waves, and the lowest Ready count is told", infra: strategy,
		request: func(_ *testing.T, r *plan.Request) {
			named(r)
			r.Set = []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge", "spec.maxSize=30",
				"spec.template.spec.deletion.nodeDrainTimeoutSeconds=60"}
		}},
	{name: "instance-type-and-fewer", why: "both at once: who is too many goes for good", infra: strategy,
		request: func(_ *testing.T, r *plan.Request) {
			named(r)
			r.Set = []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge", "spec.replicas=3"}
		}},
	{name: "replicas", why: "more machines replace none", infra: strategy, request: func(_ *testing.T, r *plan.Request) {
		named(r)
		r.Set = []string{"spec.replicas=6"}
	}},
	{name: "tags", why: "tags are changed in place", infra: strategy, request: func(_ *testing.T, r *plan.Request) {
		r.Kind, r.Name = "awsmachinepools.infrastructure.cluster.x-k8s.io", "workers"
		r.Set = []string{"spec.additionalTags.team=b"}
	}},
	{name: "no-strategy", why: "one machine after another is replaced without a strategy too",
		request: func(_ *testing.T, r *plan.Request) {
			named(r)
			r.Set = []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge"}
		}},
	{name: "refresh", why: "the group's own refresh replaces machines where it is asked for by name", infra: byGroup,
		request: func(_ *testing.T, r *plan.Request) {
			named(r)
			r.Set = []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge"}
		}},
	{name: "unreachable", why: "who can't see nodes replaces none, and says why", infra: strategy, world: func(w *world) { w.away = true },
		request: func(_ *testing.T, r *plan.Request) {
			named(r)
			r.Set = []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge"}
		}},
	{name: "paused", why: "a paused object is left alone", infra: strategy, request: func(_ *testing.T, r *plan.Request) {
		r.Kind, r.Name = "awsmachinepool", "workers"
		r.Set = []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge", `metadata.annotations[cluster.x-k8s.io/paused]=""`}
	}},
	{name: "too-many", why: "what the group's limits refuse is refused", infra: strategy, request: func(_ *testing.T, r *plan.Request) {
		named(r)
		r.Set = []string{"spec.replicas=50"}
	}},
	{name: "unknown-image", why: "what the cloud does not have can't be launched", infra: strategy,
		request: func(_ *testing.T, r *plan.Request) {
			named(r)
			r.Set = []string{"spec.awsLaunchTemplate.imageLookupFormat=no-such-image", "spec.template.spec.version=v1.35.1"}
		}},
	{name: "file", why: "manifests of the older version are planned like those of the newer one", infra: strategy,
		request: func(t *testing.T, r *plan.Request) {
			r.Manifests = manifest(t, fileManifest)
		}},
	{name: "new", why: "a pool that does not exist yet is made", infra: strategy, request: func(t *testing.T, r *plan.Request) {
		r.Manifests = manifest(t, newManifest)
	}},
	{name: "adopt", why: "an adoption tells what is tagged and what is changed in place, and replaces nothing", infra: strategy,
		world: disowned,
		request: func(_ *testing.T, r *plan.Request) {
			named(r)
			r.Set = []string{"metadata.annotations[muster.dev/adopt]=" + cloud.Owner{ID: string(awsMachinePool().UID),
				Name: "workers"}.ResourceName()}
		}},
	{name: "adopt-refused", why: "the grant that is missing is named, and ready to be applied", infra: strategy,
		world: func(w *world) { disowned(w); unclaimed(w) },
		request: func(_ *testing.T, r *plan.Request) {
			named(r)
			r.Set = []string{"metadata.annotations[muster.dev/adopt]=" + cloud.Owner{ID: string(awsMachinePool().UID),
				Name: "workers"}.ResourceName()}
		}},
	{name: "rollout-paused", why: "a rollout that is held waits, and says how many", infra: strategy,
		request: func(_ *testing.T, r *plan.Request) {
			named(r)
			r.Set = []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge", "metadata.annotations[muster.dev/rollout]=paused"}
		}},
	{name: "restart", why: "who asks for a replacement of all is told what it takes", infra: strategy,
		request: func(_ *testing.T, r *plan.Request) {
			r.Kind, r.Name = "awsmachinepool", "workers"
			r.Set = []string{"metadata.annotations[muster.dev/restart-now]=new kernel"}
		}},
	{name: "external", why: "an autoscaler sizes the group: replicas follow it, and rolling works", infra: strategy,
		request: func(_ *testing.T, r *plan.Request) {
			named(r)
			r.Set = []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge", "spec.replicas=9",
				"metadata.annotations[cluster.x-k8s.io/replicas-managed-by]=external-autoscaler"}
		}},
	{name: "strategy-both-zero", why: "what could never replace a machine is refused, also where no API server has done so", infra: strategy,
		request: func(_ *testing.T, r *plan.Request) {
			named(r)
			r.Set = []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge", "spec.strategy.rollingUpdate.maxSurge=0",
				"spec.strategy.rollingUpdate.maxUnavailable=0"}
		}},
	{name: "bootstrap", why: "what machines boot with replaces none, and is never shown", infra: strategy,
		request: func(t *testing.T, r *plan.Request) {
			r.Manifests = manifest(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: data}\ndata: {value: I2Nsb3VkLWNvbmZpZwpydW5jbWQ6IFtdCg==}\n")
		}},
	{name: "new-waiting", why: "a new pool waits for what its machines boot with", infra: strategy,
		request: func(t *testing.T, r *plan.Request) {
			r.Manifests = manifest(t, strings.ReplaceAll(newManifest, "{dataSecretName: data}",
				"{configRef: {apiGroup: bootstrap.cluster.x-k8s.io, kind: KubeadmConfig, name: second}}"))
		}},
	{name: "new-without-infrastructure", why: "a pool without its infrastructure object is no pool yet", infra: strategy,
		request: func(t *testing.T, r *plan.Request) {
			r.Manifests = manifest(t, newManifest)[:1]
		}},
	{name: "other-kind", why: "the pools of other providers are theirs", infra: strategy, request: func(t *testing.T, r *plan.Request) {
		r.Manifests = manifest(t, strings.ReplaceAll(newManifest, "kind: AWSMachinePool, name", "kind: DockerMachinePool, name"))[:1]
	}},
}

func TestMake(t *testing.T) {
	for _, c := range makeCases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				infra := awsMachinePool()
				if c.infra != nil {
					c.infra(infra)
				}
				w := newWorld(t, machinePool(5), infra)
				defer w.close()
				w.run(nil)
				if c.world != nil {
					c.world(w)
				}
				before := w.objects()
				plans, err := w.plan(func(r *plan.Request) { c.request(t, r) })
				if err != nil {
					t.Fatalf("%s: %v", c.why, err)
				}
				golden(t, c.name, c.why, plans)
				if after := w.objects(); after != before {
					t.Errorf("want the objects as they were, got %s before and %s after", before, after)
				}
			})
		})
	}
}

// objects returns the pool's objects as they are stored.
func (w *world) objects() string {
	mp, o := &clusterv1.MachinePool{}, &awsv1.AWSMachinePool{}
	for _, object := range []client.Object{mp, o} {
		if err := w.management.Get(w.t.Context(), infraKey, object); err != nil {
			w.t.Fatal(err)
		}
	}
	text, err := json.Marshal([]any{mp, o})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// golden compares both forms of plans with what was found good before.
func golden(t *testing.T, name, why string, plans []plan.Plan) {
	t.Helper()
	var text, data bytes.Buffer
	if err := plan.Text(&text, plans); err != nil {
		t.Fatal(err)
	}
	if err := plan.JSON(&data, plans); err != nil {
		t.Fatal(err)
	}
	for ending, got := range map[string][]byte{".txt": text.Bytes(), ".json": data.Bytes()} {
		goldenFile(t, name+ending, string(got), why)
	}
}

// disowned takes the owner tag off the pool's group: it is then one that can be adopted.
func disowned(w *world) {
	group := cloud.Owner{ID: string(awsMachinePool().UID), Name: "workers"}.ResourceName()
	if _, err := w.cloud.Capabilities().OutOfBand.Do(sim.RemoveTag, sim.Resource{Name: group, Key: "muster.dev/owner"}); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.cloud.Capabilities().OutOfBand.Do(sim.SetBounds, sim.Resource{Name: group, Size: 9}); err != nil {
		w.t.Fatal(err)
	}
}

// unclaimed takes the tags off the pool's group that name its cluster.
func unclaimed(w *world) {
	group := cloud.Owner{ID: string(awsMachinePool().UID), Name: "workers"}.ResourceName()
	for _, key := range []string{"kubernetes.io/cluster/c", "sigs.k8s.io/cluster-api-provider-aws/cluster/c"} {
		if _, err := w.cloud.Capabilities().OutOfBand.Do(sim.RemoveTag, sim.Resource{Name: group, Key: key}); err != nil {
			w.t.Fatal(err)
		}
	}
}

const fileManifest = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata: {name: workers}
spec:
  clusterName: c
  replicas: 4
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AWSMachinePool
metadata: {name: workers, namespace: default}
spec:
  maxSize: 20
  awsLaunchTemplate:
    instanceType: m5.xlarge
`

const newManifest = `
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata: {name: second}
spec:
  clusterName: c
  replicas: 3
  template:
    spec:
      clusterName: c
      version: v1.36.3
      bootstrap: {dataSecretName: data}
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSMachinePool, name: second}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachinePool
metadata: {name: second, uid: 22222222-2222-3333-4444-555555555555}
spec:
  maxSize: 5
  awsLaunchTemplate: {instanceType: m5.large}
`

// TestMakeRefuses holds that invalid requests are rejected at once, in the words of the component that rejects them.
func TestMakeRefuses(t *testing.T) {
	for _, c := range []struct {
		why, want string
		request   func(*plan.Request)
	}{
		{"a pool that is not there", "machinepool default/other does not exist",
			func(r *plan.Request) { r.Kind, r.Name = "machinepool", "other" }},
		{"the MachinePool's name given for its infrastructure object's",
			"MachinePool default/workers refers to AWSMachinePool workers: plan machinepool/workers",
			func(r *plan.Request) { r.Kind, r.Name = "azuremachinepool", "workers" }},
		{"a path that leads nowhere", "path", func(r *plan.Request) { named(r); r.Set = []string{"spec..x=1"} }},
		{"an assignment without a value", "want path=value", func(r *plan.Request) { named(r); r.Set = []string{"spec.replicas"} }},
		{"a place beyond the list", "beyond the end", func(r *plan.Request) { named(r); r.Set = []string{"spec.subnets[3].id=x"} }},
		{"a kind that is not served", `no matches for kind "Widget"`, func(r *plan.Request) {
			r.Manifests = []*unstructured.Unstructured{{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget",
				"metadata": map[string]any{"name": "w"}}}}
		}},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, machinePool(1), awsMachinePool())
				defer w.close()
				time.Sleep(time.Second)
				_, err := w.plan(c.request)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("want an error with %q, got %v", c.want, err)
				}
			})
		})
	}
}

// TestWhatIsPlannedHappens holds that a plan comes true: the real reconciler, over the real driver and a simulated cloud, replaces exactly
// the planned machines, launches the planned number, and keeps to the planned figures.
func TestWhatIsPlannedHappens(t *testing.T) {
	for _, c := range []struct {
		name, why string
		infra     func(*awsv1.AWSMachinePool)
		set       []string
		// short is true for those that -short plays: one for each way in which machines are replaced, and one in which none is.
		short bool
	}{
		{name: "surge and unavailable", why: "in waves", infra: strategy, short: true,
			set: []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge"}},
		{name: "fewer", why: "with some that go for good", infra: strategy,
			set: []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge", "spec.replicas=3"}},
		{name: "more", why: "with some more", infra: strategy, set: []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge", "spec.replicas=7"}},
		{name: "newest first", why: "in another order, after another strategy", infra: strategy, set: []string{
			"spec.awsLaunchTemplate.instanceType=m5.xlarge", "spec.strategy.rollingUpdate.deletePolicy=Newest",
			"spec.strategy.rollingUpdate.maxSurge=0"}},
		{name: "restart", why: "for a reason of the user's own", infra: strategy,
			set: []string{"metadata.annotations[muster.dev/restart-now]=new kernel"}},
		{name: "no strategy", why: "one after another", set: []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge"}},
		{name: "refresh", why: "by the group's own refresh", infra: byGroup, short: true,
			set: []string{"spec.awsLaunchTemplate.instanceType=m5.xlarge"}},
		{name: "tags", why: "or not at all", infra: strategy, short: true, set: []string{"spec.additionalTags.team=b"}},
	} {
		if testing.Short() && !c.short {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				infra := awsMachinePool()
				if c.infra != nil {
					c.infra(infra)
				}
				w := newWorld(t, machinePool(5), infra)
				defer w.close()
				w.run(nil)
				time.Sleep(time.Hour)
				requests := func(r *plan.Request) { named(r); r.Set = c.set }
				plans, err := w.plan(requests)
				if err != nil {
					t.Fatal(err)
				}
				p := plans[0]
				w.edit(c.set)
				on, off := w.life()
				made, gone, lowest, most := len(on), len(off), p.Ready, p.Machines
				w.run(func() {
					now, err := w.plan(named)
					if err != nil {
						t.Fatal(err)
					}
					lowest, most = min(lowest, now[0].Ready), max(most, now[0].Machines)
				})
				on, off = w.life()
				if left := slices.Sorted(slices.Values(off[gone:])); !slices.Equal(left, names(p)) {
					t.Errorf("%s: want %v gone, as planned, got %v", c.why, names(p), left)
				}
				if n := len(on) - made; n != p.Replaced+p.Added {
					t.Errorf("%s: want %d made, as planned, got %d", c.why, p.Replaced+p.Added, n)
				}
				if lowest != p.LowestReady || most != p.MostMachines {
					t.Errorf("%s: want %d to %d machines, as planned, got %d to %d", c.why, p.LowestReady, p.MostMachines, lowest, most)
				}
			})
		})
	}
}

// names returns the machines that a plan has go.
func names(p plan.Plan) []string {
	var out []string
	for _, w := range p.Waves {
		for _, m := range w.Machines {
			out = append(out, m.ID)
		}
	}
	for _, m := range slices.Concat(p.Rolled, p.Gone) {
		out = append(out, m.ID)
	}
	slices.Sort(out)
	return out
}

// edit does what was planned.
func (w *world) edit(set []string) {
	w.t.Helper()
	mp, o := &clusterv1.MachinePool{}, &awsv1.AWSMachinePool{}
	for _, object := range []client.Object{mp, o} {
		if err := w.management.Get(w.t.Context(), infraKey, object); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, text := range set {
		field, value, _ := strings.Cut(text, "=")
		switch field {
		case "spec.awsLaunchTemplate.instanceType":
			o.Spec.AWSLaunchTemplate.InstanceType = value
		case "spec.replicas":
			n, err := strconv.Atoi(value)
			if err != nil {
				w.t.Fatal(err)
			}
			mp.Spec.Replicas = new(int32(n))
		case "spec.strategy.rollingUpdate.deletePolicy":
			o.Spec.Strategy.RollingUpdate.DeletePolicy = common.DeletePolicy(value)
		case "spec.strategy.rollingUpdate.maxSurge":
			o.Spec.Strategy.RollingUpdate.MaxSurge = new(intstr.Parse(value))
		case "spec.additionalTags.team":
			o.Spec.AdditionalTags["team"] = value
		case "metadata.annotations[muster.dev/restart-now]":
			mp.Annotations = map[string]string{"muster.dev/restart-now": value}
		default:
			w.t.Fatalf("want a field that this test edits, got %s", field)
		}
	}
	for _, object := range []client.Object{mp, o} {
		if err := w.management.Update(w.t.Context(), object); err != nil {
			w.t.Fatal(err)
		}
	}
}
