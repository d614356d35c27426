package partstest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/kube/machines"
	"github.com/muster-project/muster/pool"
)

// hashed returns the hash that replaces a text that is too long for a name. It lasts on objects.
func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:10]
}

func TestName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("p", 60)
	for _, tc := range []struct{ reason, pool, id, want string }{
		{"people read it", "mp", "i-0123456789abcdef0", "mp-i-0123456789abcdef0"},
		{"a pool's name may hold dots", "mp.a", "i-1", "mp.a-i-1"},
		{"what fits just so stays", strings.Repeat("p", 59), "i-1", strings.Repeat("p", 59) + "-i-1"},
		{"what does not is cut, and a hash tells it from others", long, "i-1", strings.Repeat("p", 48) + "-" + hashed(long) + "-i-1"},
		{"a cut does not end in a dot", strings.Repeat("p", 47) + "." + strings.Repeat("q", 20), "i-1",
			strings.Repeat("p", 47) + "-" + hashed(strings.Repeat("p", 47)+"."+strings.Repeat("q", 20)) + "-i-1"},
		{"an ID that no name may hold is hashed", "mp", "/subscriptions/X/vm_1", "mp-" + hashed("/subscriptions/X/vm_1")},
		{"and one that is too long", "mp", strings.Repeat("a", 33), "mp-" + hashed(strings.Repeat("a", 33))},
	} {
		got := machines.Name(tc.pool, tc.id)
		if got != tc.want {
			t.Errorf("%s: want %s, got %s", tc.reason, tc.want, got)
		}
		if bad := append(validation.IsDNS1123Subdomain(got), validation.IsValidLabelValue(got)...); len(bad) > 0 {
			t.Errorf("%s: %s is no name or no label: %v", tc.reason, got, bad)
		}
	}
}

// FuzzName holds that every name is legal, and that no two instances of a pool share one.
func FuzzName(f *testing.F) {
	for _, id := range []string{"i-1", "", "A", "é", strings.Repeat("x", 99), "a.b", "-"} {
		f.Add("pool", id, "i-2")
		f.Add(strings.Repeat("p-", 31)+"p", id, "i-2")
	}
	f.Fuzz(func(t *testing.T, pool, a, b string) {
		if len(validation.IsDNS1123Subdomain(pool)) > 0 {
			t.Skip()
		}
		one, other := machines.Name(pool, a), machines.Name(pool, b)
		if bad := append(validation.IsDNS1123Subdomain(one), validation.IsValidLabelValue(one)...); len(bad) > 0 {
			t.Errorf("%q of %q: %s is no name or no label: %v", a, pool, one, bad)
		}
		if a != b && one == other {
			t.Errorf("%q and %q of %q share the name %s", a, b, pool, one)
		}
	})
}

func TestFit(t *testing.T) {
	t.Parallel()
	just, long := strings.Repeat("p", 63), strings.Repeat("p", 64)
	if got := machines.Normalize(just); got != just {
		t.Errorf("what fits stays, got %s", got)
	}
	if got := machines.Normalize(long); len(got) != 63 || got == machines.Normalize(long+"q") || len(validation.IsDNS1123Subdomain(got)) > 0 {
		t.Errorf("what does not is cut, and a hash tells it from others, got %s", got)
	}
}

// decideCases are the cases of TestDecide.
var decideCases = map[string]struct {
	reason    string
	facts     machines.Input
	instances []pool.Instance
	infras    []client.Object
	machines  []clusterv1.Machine
	want      []string
}{
	"group lost": {"what is being deleted has no instance any more, and the group is not created again before it is gone",
		machines.Input{On: true, Announced: true, Lost: true}, nil,
		[]client.Object{infra("i-1", infraGoing), infra("i-2"), infra("i-3")},
		[]clusterv1.Machine{machine("i-1", machineGoing), machine("i-2", machineGoing), machine("i-3")},
		[]string{"Release i-1", "DeleteInfra i-2"}},
	"group lost, young": {"a look that is behind knows nothing of it", machines.Input{On: true, Announced: true, Lost: true}, nil,
		[]client.Object{infra("i-1", createdAt(-29*time.Second), infraGoing)}, []clusterv1.Machine{machine("i-1", machineGoing)}, nil},
	"new":              {"every instance gets one", on, isRunning, nil, nil, []string{"Create i-1"}},
	"new, not running": {"as soon as it has an ID", on, []pool.Instance{instance("i-1", pool.Pending)}, nil, nil, []string{"Create i-1"}},
	"new and going": {"who goes or never was needs none", on,
		[]pool.Instance{instance("i-1", pool.Terminating), instance("i-2", pool.Failed), {State: pool.Pending}}, nil, nil, nil},
	"failed, kept": {"an instance that stays until it is removed has a machine until then",
		machines.Input{On: true, Announced: true, Failed: true, Trusted: true},
		[]pool.Instance{instance("i-1", pool.Terminating), instance("i-2", pool.Failed)}, nil, nil, []string{"Create i-2"}},
	"known": {"it is kept up to date", on, isRunning, []client.Object{infra("i-1")}, nil, []string{"Update i-1"}},
	"other zone": {"the instance is the same in any spelling", on, isRunning, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1")}, []string{"Update i-1"}},
	"other name": {"the ID counts and not the name: another provider has made it", on, isRunning,
		[]client.Object{infra("asg-x7k2p", infraFor("aws:///zone-b/i-1"))}, nil, []string{"Update asg-x7k2p"}},
	"name given anew, young": {"the API server would refuse another of its name", on, isRunning,
		[]client.Object{infra("i-1", infraFor("aws:///zone-a/i-0"), createdAt(-time.Second))}, []clusterv1.Machine{machine("i-1")}, nil},
	"name given anew": {"what has the name goes first", on, isRunning,
		[]client.Object{infra("i-1", infraFor("aws:///zone-a/i-0"))}, []clusterv1.Machine{machine("i-1")},
		[]string{"DeleteMachine i-1 (InstanceGone)"}},
	"not asked": {"what was not seen is not gone", machines.Input{On: true, Announced: true}, nil, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1")}, nil},
	"no Machine yet": {"it stays while its instance lives", on, isRunning, []client.Object{infra("i-1")}, nil, []string{"Update i-1"}},
	"gone": {"the Machine goes first", on, nil, []client.Object{infra("i-1")}, []clusterv1.Machine{machine("i-1")},
		[]string{"DeleteMachine i-1 (InstanceGone)"}},
	"gone, never joined": {"no controller is asked to look for a Node that may join at last", on, nil, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1", machineNodeless)}, []string{"DeleteInfra i-1"}},
	"gone, never joined, half": {"the Machine goes last, and none is made of what is being deleted", on, nil,
		[]client.Object{infra("i-1", infraGoing)}, []clusterv1.Machine{machine("i-1", machineNodeless)},
		[]string{"Detach i-1 (InstanceGone)"}},
	"gone, never joined, hooked": {"the client whose hook it is sees the Machine go", on, nil, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1", machineNodeless, machineHooked)}, []string{"DeleteMachine i-1 (InstanceGone)"}},
	"gone, never joined, pool deleted": {"its deletion takes each of its Nodes along",
		machines.Input{On: true, Announced: true, Trusted: true, Deleting: true}, nil,
		[]client.Object{infra("i-1")}, []clusterv1.Machine{machine("i-1", machineNodeless)}, []string{"DeleteMachine i-1 (InstanceGone)"}},
	"gone, never joined, Machine deleted": {"its controller has begun", on, nil, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1", machineNodeless, machineGoing)}, []string{"DeleteInfra i-1"}},
	"gone, going": {"nothing is left to be drained", on, nil, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, []string{"DeleteInfra i-1"}},
	"gone, both going": {"then it is let go", on, nil, []client.Object{infra("i-1", infraGoing)},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, []string{"Release i-1"}},
	"gone, let go": {"once", on, nil, []client.Object{infra("i-1", infraGoing, infraFree)},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, nil},
	"gone, never had": {"one without a Machine is deleted itself", on, nil, []client.Object{infra("i-1")}, nil,
		[]string{"DeleteInfra i-1"}},
	"left, serves": {"its Node would be deleted with its pods", serves, nil, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1")}, nil},
	"left, serves, going": {"the Node is drained before its Machine goes", serves, nil, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, nil},
	"left, serves, released": {"its controller has drained it", serves, nil, []client.Object{infra("i-1", infraGoing)},
		[]clusterv1.Machine{machine("i-1", waiting, drain(corev1.ConditionTrue))}, []string{"Release i-1"}},
	"left, serves, never drained": {"its Node joined after its controller had looked for one: nothing may delete it with its pods",
		serves, nil,
		[]client.Object{infra("i-1", infraGoing)}, []clusterv1.Machine{machine("i-1", waiting)}, []string{"Detach i-1"}},
	"left with its group, serves, never drained": {"and if the group itself is lost", lost, nil,
		[]client.Object{infra("i-1", infraGoing)}, []clusterv1.Machine{machine("i-1", waiting)}, []string{"Detach i-1"}},
	"left, serves, both deleted": {"its controller has not looked yet", serves, nil, []client.Object{infra("i-1", infraGoing)},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, nil},
	"left, serves, pool deleted, never drained": {"likewise, whatever goes with it", poolDeleted, nil,
		[]client.Object{infra("i-1", infraGoing)}, []clusterv1.Machine{machine("i-1", waiting)}, []string{"Detach i-1"}},
	"left, serves, never had": {"no Machine has a Node deleted", serves, nil, []client.Object{infra("i-1")}, nil,
		[]string{"DeleteInfra i-1"}},
	"left, serves, let go": {"its Node stays, as that of any instance outside of the pool", serves, nil,
		[]client.Object{infra("i-1", infraGoing)}, []clusterv1.Machine{machine("i-1")}, []string{"Detach i-1"}},
	"left, serves, pool deleted": {"its Machine goes with the pool", poolDeleted, nil, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1")}, []string{"DeleteMachine i-1 (InstanceGone)"}},
	"left, serves, pool deleted, going": {"when the Node is drained", poolDeleted, nil, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, nil},
	"ID given anew, going": {"a group that was made again gives its IDs to others: what goes for the one before has nothing to wait for", on,
		[]pool.Instance{identified("i-1", "new")}, []client.Object{infra("i-1", infraOf("old"), infraGoing)},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, []string{"Release i-1"}},
	"ID given anew, Machine going": {"both go", on,
		[]pool.Instance{identified("i-1", "new")}, []client.Object{infra("i-1", infraOf("old"))},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, []string{"DeleteInfra i-1"}},
	"ID given anew, deleted later": {"what is deleted when the new one exists is handed on to it, which is drained then", on,
		[]pool.Instance{since("i-1", "new", 0)}, []client.Object{infra("i-1", infraOf("old"), infraGoing)},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, []string{"Update i-1"}},
	"ID given anew, deleted by the pool": {"the pool deletes for the one that is gone, also in the second in which the new one comes", on,
		[]pool.Instance{since("i-1", "new", 0)}, []client.Object{infra("i-1", infraOf("old"))},
		[]clusterv1.Machine{machine("i-1", machineGoing, becauseOf("InstanceGone: the instance does not exist any more"))},
		[]string{"DeleteInfra i-1"}},
	"ID given anew, one deleted before": {"its Machine was deleted for the instance before", on,
		[]pool.Instance{since("i-1", "new", time.Second)}, []client.Object{infra("i-1", infraOf("old"), infraGoing)},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, []string{"Release i-1"}},
	"ID given anew": {"what stays stands for the new one", on,
		[]pool.Instance{identified("i-1", "new")}, []client.Object{infra("i-1", infraOf("old"))}, []clusterv1.Machine{machine("i-1")},
		[]string{"Update i-1"}},
	"ID given anew, an earlier one listed": {"a list that is behind shows how the earlier instance ends: that ends nothing for the " +
		"present one", on,
		ending("i-1", "old"), []client.Object{infra("i-1", infraOf("new"))}, []clusterv1.Machine{machine("i-1")}, nil},
	"ends": {"the very instance that it stands for is being terminated", on,
		ending("i-1", "new"), []client.Object{infra("i-1", infraOf("new"))}, []clusterv1.Machine{machine("i-1")},
		[]string{"DeleteMachine i-1 (InstanceTerminating)"}},
	"name in use": {"the Machine of the one before would take what is made now for its own", on,
		[]pool.Instance{identified("i-1", "new")}, nil, []clusterv1.Machine{machine("i-1", machineGoing)}, nil},
	"name in use, held": {"the deletion of its Machine waits for it, to drain the instance", on, isRunning, nil,
		[]clusterv1.Machine{machine("i-1", machineGoing, machineHeld)}, []string{"Create i-1"}},
	"off, held": {"nothing is made for it to wait for", off, isRunning, nil, []clusterv1.Machine{machine("i-1", machineGoing, machineHeld)},
		[]string{"Detach i-1"}},
	"name free": {"another Machine has another", on,
		[]pool.Instance{identified("i-1", "new")}, nil, []clusterv1.Machine{machine("i-2", machineGoing)}, []string{"Create i-1"}},
	"the same, going": {"it is held as long as this very one exists", on,
		[]pool.Instance{identified("i-1", "old")}, []client.Object{infra("i-1", infraOf("old"), infraGoing)},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, []string{"Update i-1"}},
	"being deleted": {"it is held as long as its instance exists", on, isRunning, []client.Object{infra("i-1", infraGoing)},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, []string{"Update i-1"}},
	"not shown yet": {"a look that is behind knows nothing of an instance that was seen a moment ago", on, nil,
		[]client.Object{infra("i-1", createdAt(-29*time.Second))}, []clusterv1.Machine{machine("i-1")}, nil},
	"not shown, going": {"nor is it let go then", on, nil, []client.Object{infra("i-1", createdAt(-29*time.Second), infraGoing)},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, nil},
	"shown no more": {"no look is behind for that long", on, nil, []client.Object{infra("i-1", createdAt(-30*time.Second))},
		[]clusterv1.Machine{machine("i-1")}, []string{"DeleteMachine i-1 (InstanceGone)"}},
	"pool goes, young": {"nothing comes any more", machines.Input{On: true, Announced: true, Deleting: true, Trusted: true}, nil,
		[]client.Object{infra("i-1", createdAt(0), infraGoing)}, []clusterv1.Machine{machine("i-1", machineGoing)}, []string{"Release i-1"}},
	"lent": {"a third party has put its instance into standby, and returns it",
		machines.Input{On: true, Announced: true, Trusted: true, ExternalStandby: []string{"aws:///zone-a/i-1"}}, nil,
		[]client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1")}, nil},
	"lent, going": {"it is not let go either while its instance exists",
		machines.Input{On: true, Announced: true, Trusted: true, ExternalStandby: []string{"aws:///zone-a/i-1"}}, nil,
		[]client.Object{infra("i-1", infraGoing)}, []clusterv1.Machine{machine("i-1", machineGoing)}, nil},
	"off, lent": {"who has no Machines any more has none for it",
		machines.Input{Trusted: true, ExternalStandby: []string{"aws:///zone-a/i-1"}}, nil, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1")}, []string{"Detach i-1"}},
	"cloud takes it": {"its Machine goes with it, so that its node is left", on, []pool.Instance{instance("i-1", pool.Terminating)},
		[]client.Object{infra("i-1")}, []clusterv1.Machine{machine("i-1")}, []string{"DeleteMachine i-1 (InstanceTerminating)"}},
	"taken, no Machine": {"none is made any more, to be deleted again", on, []pool.Instance{instance("i-1", pool.Terminating)},
		[]client.Object{infra("i-1")}, nil, []string{"DeleteInfra i-1"}},
	"hook holds it": {"its drain is the planner's to begin", on, []pool.Instance{held(instance("i-1", pool.Terminating))},
		[]client.Object{infra("i-1")}, []clusterv1.Machine{machine("i-1")}, []string{"Update i-1"}},
	"pool deleted": {"no more are made", machines.Input{On: true, Announced: true, Deleting: true, Trusted: true}, isRunning, nil, nil, nil},
	"paused":       {"left alone", on, nil, []client.Object{infra("i-1", infraPaused)}, nil, nil},
	"Machine paused": {"left alone as well", on, nil, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1", machinePaused)}, nil},
	"core's": {"a Machine without its object is the core controller's", on, isRunning, nil, []clusterv1.Machine{machine("i-9")},
		[]string{"Create i-1"}},
	"orphaned": {"an object that belongs to the pool gets its owner back", on, isRunning, []client.Object{infra("i-1", infraOrphaned)},
		nil, []string{"Update i-1"}},
	"orphaned, deleted": {"without an owner that is no request to remove the instance", on, isRunning,
		[]client.Object{infra("i-1", infraOrphaned, infraGoing)}, []clusterv1.Machine{machine("i-1")}, []string{"ReleaseAbandoned i-1"}},
	"orphaned, let go": {"once", on, isRunning, []client.Object{infra("i-1", infraOrphaned, infraGoing, infraFree)}, nil, nil},
	"orphaned, asked": {"its Machine's deletion is such a request", on, isRunning, []client.Object{infra("i-1", infraOrphaned, infraGoing)},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, []string{"Update i-1"}},
	"orphaned, gone": {"it goes as any other", on, nil, []client.Object{infra("i-1", infraOrphaned)}, nil, []string{"DeleteInfra i-1"}},
	"orphaned, taken": {"the cloud terminates its instance, which is reported elsewhere", on,
		[]pool.Instance{instance("i-1", pool.Terminating)}, []client.Object{infra("i-1", infraOrphaned, infraGoing)}, nil,
		[]string{"Update i-1"}},
	"restored": {"its owner is the pool as it was before a restore: the garbage collector deletes it", on, isRunning,
		[]client.Object{infra("i-1", infraRestored, infraGoing)}, nil, []string{"ReleaseAbandoned i-1"}},

	"off, told otherwise": {"as long as the core controller is told to make Machines, none is taken",
		machines.Input{Announced: true, Trusted: true}, isRunning, []client.Object{infra("i-1")}, []clusterv1.Machine{machine("i-1")}, nil},
	"off": {"the Machine goes first, without its instance", off, isRunning, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1")}, []string{"Detach i-1"}},
	"off, Machine going": {"no other controller releases it, for it is paused", off, isRunning, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1", machineDetached, machineGoing)}, []string{"Orphan i-1"}},
	"off, Machine gone": {"then the other", off, isRunning, []client.Object{infra("i-1")}, nil, []string{"DetachInfra i-1"}},
	"off, both gone": {"which is let go at once", off, isRunning, []client.Object{infra("i-1", infraDetached, infraGoing)}, nil,
		[]string{"Release i-1"}},
	"off, not seen": {"the instance does not matter", machines.Input{}, nil, []client.Object{infra("i-1")}, nil, []string{"DetachInfra i-1"}},
	"off, asked to go": {"the removal of the instance was requested: it is removed", off, isRunning, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1", machineGoing)}, []string{"Update i-1"}},
	"off, only Machine left": {"a Machine that was made meanwhile goes too", off, isRunning, nil, []clusterv1.Machine{machine("i-1")},
		[]string{"Detach i-1"}},
	"off, paused": {"the user's own pause is kept", off, isRunning, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1", machinePaused)}, nil},
	"on again in the middle": {"what has begun to go goes; it is made anew", on, isRunning, []client.Object{infra("i-1")},
		[]clusterv1.Machine{machine("i-1", machineDetached, machineGoing)}, []string{"Orphan i-1"}},
	"on again, object going": {"likewise", on, isRunning, []client.Object{infra("i-1", infraDetached, infraGoing)}, nil,
		[]string{"Release i-1"}},
}

// What the manager knows when it decides on a Machine: that it is on, that it serves, that it is lost, and that its pool is deleted.
var (
	on          = machines.Input{On: true, Announced: true, Trusted: true}
	off         = machines.Input{Trusted: true}
	serving     = map[string]bool{cloud.ProviderKey("aws:///zone-a/i-1"): true}
	serves      = machines.Input{On: true, Announced: true, Trusted: true, Serving: serving}
	lost        = machines.Input{On: true, Announced: true, Lost: true, Serving: serving}
	poolDeleted = machines.Input{On: true, Announced: true, Trusted: true, Serving: serving, Deleting: true}
	isRunning   = []pool.Instance{instance("i-1", pool.Running)}
)

func TestDecide(t *testing.T) {
	t.Parallel()
	for name, tc := range decideCases {
		f := tc.facts
		f.Instances, f.Known, f.Now = tc.instances, machines.BuildIndex(kind, "u-p", tc.infras, tc.machines), now
		f.NameOf = func(i pool.Instance) string { return i.ID }
		if diff := cmp.Diff(tc.want, say(machines.Decide(f))); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

// TestPlaces holds what becomes of the machines of an instance that its group repairs by another one, with the same provider ID and the
// same Node name: they are the other's. If the Machine went, its controller would drain and delete the other's Node.
func TestPlaces(t *testing.T) {
	t.Parallel()
	places := kind
	places.Places = true
	another, vacant, ends := since("i-1", "new", time.Hour), identified("i-1", ""), ending("i-1", "old")[0]
	old := func(change ...func(*awsv1.AWSMachine)) client.Object {
		return infra("i-1", append(change, infraOf("old"))...)
	}
	for _, c := range []struct {
		reason    string
		instances []pool.Instance
		infra     client.Object
		machine   []clusterv1.Machine
		want      []string
	}{
		{"nothing goes while the group takes the instance", []pool.Instance{ends}, old(), []clusterv1.Machine{machine("i-1")},
			[]string{"Update i-1"}},
		{"nor while the other one is not there", []pool.Instance{vacant}, old(), []clusterv1.Machine{machine("i-1")}, []string{"Update i-1"}},
		{"they are handed on", []pool.Instance{another}, old(), []clusterv1.Machine{machine("i-1")}, []string{"Update i-1"}},
		{"a deletion that was asked for holds for the other, which is drained", []pool.Instance{another}, old(infraGoing),
			[]clusterv1.Machine{machine("i-1", machineGoing)}, []string{"Update i-1"}},
		{"they go with the place", nil, old(), []clusterv1.Machine{machine("i-1")}, []string{"DeleteMachine i-1 (InstanceGone)"}},
	} {
		f := machines.Input{On: true, Announced: true, Trusted: true, Instances: c.instances, Now: now.Add(2 * time.Hour)}
		f.Known, f.NameOf = machines.BuildIndex(places, "u-p", []client.Object{c.infra}, c.machine), func(i pool.Instance) string { return i.ID }
		if diff := cmp.Diff(c.want, say(machines.Decide(f))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
		if got := f.Known.Evaluate(places, true, true, now).UIDs; len(got) > 0 {
			t.Errorf("%s: want nothing said of one instance alone, got %v", c.reason, got)
		}
	}
}

// A group that is created again gives its instances the provider IDs of Machines that are being deleted.
func TestFormer(t *testing.T) {
	t.Parallel()
	reuses := kind
	reuses.ReusesID = func(id string) bool { return strings.Contains(id, "i-") }
	infras := []client.Object{infra("i-1"), infra("i-2"), infra("i-3", infraGoing), infra("i-4", infraGoing)}
	alone := machine("i-5", machineGoing, func(m *clusterv1.Machine) { m.Spec.ProviderID = "aws:///zone-a/i-5" })
	list := []clusterv1.Machine{machine("i-1"), machine("i-2", machineGoing), machine("i-3"), alone, machine("i-6")}
	if diff := cmp.Diff([]string{"i-2", "i-3", "i-5"}, machines.BuildIndex(reuses, "u-p", infras, list).Former()); diff != "" {
		t.Errorf("Machines that keep their group from being created again (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"aws://i-1", "aws://i-2", "aws://i-3", "aws://i-4", "aws://i-5"},
		machines.BuildIndex(kind, "u-p", infras, list).Keys()); diff != "" {
		t.Errorf("provider keys of all machines, those without an infrastructure machine too (-want +got):\n%s", diff)
	}
	if got := machines.BuildIndex(kind, "u-p", infras, list).Former(); got != nil {
		t.Errorf("a cloud that uses no ID again: want none, got %q", got)
	}
}

// Where an instance is part of its group, a lost group leaves no instance that serves outside of it, however Ready the Node still is: the
// Node goes with the Machine, and is not there, cordoned by a drain, for the instance that gets its name next.
func TestLostWithItsGroup(t *testing.T) {
	t.Parallel()
	part := kind
	part.ReusesID = func(string) bool { return true }
	for _, c := range []struct {
		reason string
		kind   machines.Kind
		lost   bool
		want   []string
	}{
		{"an instance may have been taken out of the group before", kind, true, []string{"i-1"}},
		{"one that exists in its group alone is gone with it", part, true, nil},
		{"a list that does not show it may be behind", part, false, []string{"i-1"}},
	} {
		f := machines.Input{On: true, Announced: true, Lost: c.lost, Trusted: !c.lost, Now: now}
		f.Known = machines.BuildIndex(c.kind, "u-p", []client.Object{infra("i-1", infraGoing)}, []clusterv1.Machine{machine("i-1", waiting)})
		var left []string
		for _, i := range f.Left() {
			left = append(left, i.Object.GetName())
		}
		if diff := cmp.Diff(c.want, left); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.reason, diff)
		}
	}
}

// A deletion that waits for the infrastructure machine is a request to remove that instance and no other.
func TestHeldDeletionsAreRequests(t *testing.T) {
	t.Parallel()
	list := []clusterv1.Machine{machine("i-1", machineGoing, machineHeld), machine("i-2", machineHeld), machine("i-3", machineGoing),
		machine("i-4", machineGoing, machineHeld, machineDetached)}
	known := machines.BuildIndex(kind, "u-p", nil, list)
	want := machines.Consequences{
		Marked: map[string]bool{}, UIDs: map[string]string{}, Guards: map[string]pool.Guard{"aws://i-1": {Requested: true}},
		DeletionRequested: map[string]pool.Cause{"aws://i-1": {Reason: "MachineDeleted", Message: "Machine i-1 is being deleted"}},
	}
	if diff := cmp.Diff(want, known.Evaluate(kind, true, true, now)); diff != "" {
		t.Errorf("consequences (-want +got):\n%s", diff)
	}
	want.Guards = map[string]pool.Guard{}
	if diff := cmp.Diff(want, known.Evaluate(kind, true, false, now)); diff != "" {
		t.Errorf("consequences where no controller releases an instance (-want +got):\n%s", diff)
	}
	want.DeletionRequested = map[string]pool.Cause{}
	if diff := cmp.Diff(want, known.Evaluate(kind, false, true, now)); diff != "" {
		t.Errorf("consequences of a pool that has no Machines any more (-want +got):\n%s", diff)
	}
}

func TestMachinesOfOthersAreNotThePools(t *testing.T) {
	t.Parallel()
	other := machine("i-1", func(m *clusterv1.Machine) { m.Spec.InfrastructureRef.Kind = "GCPMachine" })
	group := machine("i-1", func(m *clusterv1.Machine) { m.Spec.InfrastructureRef.APIGroup = "x.example.org" })
	k := machines.BuildIndex(kind, "u-p", []client.Object{infra("i-1")}, []clusterv1.Machine{other, group})
	if len(k.Alone) != 0 || k.Infras[0].Machine != nil {
		t.Errorf("want none, got %+v", k)
	}
}

// recordingNodes records the steps that are started on the nodes of a workload cluster.
type recordingNodes struct {
	engine.Nodes
	started []string
	err     error
}

func (p *recordingNodes) Start(_ context.Context, s pool.Step) error {
	text := string(s.Kind)
	for _, t := range s.Targets {
		text += " " + t.ID
	}
	p.started = append(p.started, text)
	return p.err
}

// TestLeft holds of which instances it matters whether they serve outside of their group.
func TestLeft(t *testing.T) {
	t.Parallel()
	id := "aws:///zone-a/i-1"
	with, without := []clusterv1.Machine{machine("i-1")}, []clusterv1.Machine(nil)
	for _, c := range []struct {
		reason   string
		facts    machines.Input
		machines []clusterv1.Machine
		want     int
	}{
		{"the group does not have it", machines.Input{Trusted: true}, with, 1},
		{"it was not seen", machines.Input{}, with, 0},
		{"the pool is deleted", machines.Input{Trusted: true, Deleting: true}, with, 1},
		{"it is in the group", machines.Input{Trusted: true, Instances: []pool.Instance{{ProviderID: id}}}, with, 0},
		{"another instance has its ID", machines.Input{Trusted: true, Instances: []pool.Instance{{ProviderID: id, UID: "new"}}},
			[]clusterv1.Machine{machine("i-1", machineGoing)}, 0},
		{"it is in standby", machines.Input{Trusted: true, ExternalStandby: []string{id}}, with, 0},
		{"it has no Machine", machines.Input{Trusted: true}, without, 0},
		{"the group is lost", machines.Input{Lost: true}, with, 0},
		{"the group is lost, and the Machine was going", machines.Input{Lost: true}, []clusterv1.Machine{machine("i-1", machineGoing)}, 0},
	} {
		c.facts.Known = machines.BuildIndex(kind, "u-p", []client.Object{infra("i-1", infraOf("old"))}, c.machines)
		if got := len(c.facts.Left()); got != c.want {
			t.Errorf("%s: %d have left, want %d", c.reason, got, c.want)
		}
	}
	undrained := machines.Input{Lost: true, Known: machines.BuildIndex(kind, "u-p", []client.Object{infra("i-1", infraGoing)},
		[]clusterv1.Machine{machine("i-1", waiting)})}
	if len(undrained.Left()) != 1 {
		t.Error("want one of a lost group whose Node was not drained")
	}
	if undrained.Deleting = true; len(undrained.Left()) != 0 {
		t.Error("want none while the pool is deleted: it has to be gone first")
	}
}

// TestEndingInstancesOfPlaces holds that the Machine of a place outlives an instance that the cloud is about to terminate: its Node is
// drained directly, and the Machine is that of the next one. Where there are no places, it goes with the instance.
func TestEndingInstancesOfPlaces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason           string
		places, ending   bool
		drained, deleted []string
	}{
		{"its Machine stays", true, true, []string{"Drain i-1"}, nil},
		{"Muster's own removal is the Machine's", true, false, nil, []string{"i-1"}},
		{"its Machine goes with it", false, true, nil, []string{"i-1"}},
	} {
		objects := []client.Object{infra("i-1")}
		w := newWorld(t, objects, []clusterv1.Machine{machine("i-1")})
		w.doer.Kind.Places = c.places
		known, nodes := machines.BuildIndex(w.doer.Kind, "u-p", objects, w.list()), &recordingNodes{}
		n := machines.Nodes{Nodes: nodes, Doer: w.doer, Known: known, Guards: known.Evaluate(w.doer.Kind, true, true, now).Guards}
		err := n.Start(t.Context(), pool.Step{Kind: pool.Drain,
			Targets: []pool.InstanceRef{{ID: "i-1", ProviderID: "aws:///zone-a/i-1", Ending: c.ending}}})
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
		}
		if diff := cmp.Diff([][]string{c.drained, c.deleted}, [][]string{nodes.started, w.deletedMachines()}); diff != "" {
			t.Errorf("%s: drained and deleted (-want +got):\n%s", c.reason, diff)
		}
	}
}

var errAway = errors.New("the workload cluster is away")

func TestDrainsGoThroughMachines(t *testing.T) {
	t.Parallel()
	target := func(id string) pool.InstanceRef {
		return pool.InstanceRef{ID: id, ProviderID: "aws:///zone-a/" + id, UID: "uid-" + id,
			Cause: pool.Cause{Reason: "ScaleIn", Message: "too many"}}
	}
	for name, tc := range map[string]struct {
		reason  string
		kind    pool.StepKind
		away    bool
		targets []string
		started []string
		deleted []string
		err     string
	}{
		"a Machine":     {"it is deleted, and nothing else", pool.Drain, false, []string{"i-1"}, nil, []string{"i-1"}, ""},
		"none":          {"a node without one is drained as ever", pool.Drain, false, []string{"i-3"}, []string{"Drain i-3"}, nil, ""},
		"some of each":  {"each its way", pool.Drain, false, []string{"i-1", "i-3", "i-2"}, []string{"Drain i-3"}, []string{"i-1"}, ""},
		"being deleted": {"nothing more is to be done", pool.Drain, false, []string{"i-2"}, nil, nil, ""},
		"held":          {"its Machine drains it when it has its infrastructure machine", pool.Drain, false, []string{"i-7"}, nil, nil, ""},
		"drained before": {"its Machine drained an earlier Node, and drains no further one", pool.Drain, false, []string{"i-5"},
			[]string{"Drain i-5"}, nil, ""},
		"an earlier one's": {"its Machine stands for an instance that is gone, until this pass hands it on", pool.Drain, false,
			[]string{"i-6", "i-1"}, nil, []string{"i-1"}, "Machine i-6 stands for an earlier instance"},
		"paused": {"it is said that it is left alone, and the others go", pool.Drain, false, []string{"i-4", "i-1"}, nil,
			[]string{"i-1"}, "Machine i-4, which has the annotation cluster.x-k8s.io/paused"},
		"cluster away":       {"Machines need no workload cluster", pool.Drain, true, []string{"i-1"}, nil, []string{"i-1"}, ""},
		"cluster away, none": {"its nodes do", pool.Drain, true, []string{"i-3"}, []string{"Drain i-3"}, nil, errAway.Error()},
		"taken back": {"cordons of the pool are removed directly", pool.Undrain, false, []string{"i-1"}, []string{"Undrain i-1"},
			nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := []client.Object{infra("i-1", infraOf("uid-i-1")), infra("i-2"), infra("i-3"), infra("i-4"), infra("i-5", infraGoing),
				infra("i-6", infraOf("earlier"))}
			list := []clusterv1.Machine{machine("i-1"), machine("i-2", machineGoing), machine("i-4", machinePaused), machine("i-5", machineGoing),
				machine("i-6"), machine("i-7", machineGoing, machineHeld)}
			w := newWorld(t, objects, list)
			nodes := &recordingNodes{}
			if tc.away {
				nodes.err = errAway
			}
			known := machines.BuildIndex(kind, "u-p", objects, w.list())
			step := pool.Step{Kind: tc.kind}
			for _, id := range tc.targets {
				step.Targets = append(step.Targets, target(id))
			}
			n := machines.Nodes{Nodes: nodes, Doer: w.doer, Known: known, Guards: known.Evaluate(kind, true, true, now).Guards}
			n.Guards[cloud.ProviderKey(target("i-5").ProviderID)] = pool.Guard{Requested: true, Released: true}
			err := n.Start(t.Context(), step)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: want error %q, got %v", tc.reason, tc.err, err)
			}
			if diff := cmp.Diff(tc.started, nodes.started); diff != "" {
				t.Errorf("%s: nodes (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.deleted, w.deletedMachines()); diff != "" {
				t.Errorf("%s: Machines (-want +got):\n%s", tc.reason, diff)
			}
			for _, name := range tc.deleted {
				if got := w.machine(name).Annotations[machines.CauseAnnotation]; got != "ScaleIn: too many" {
					t.Errorf("%s: want the cause on Machine %s, got %q", tc.reason, name, got)
				}
			}
		})
	}
}

func TestUnknownVerb(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil, nil)
	if _, err := w.doer.Do(t.Context(), []machines.Action{{Do: "Dance"}}); err == nil || !strings.Contains(err.Error(), "Dance") {
		t.Errorf("want an error that names it, got %v", err)
	}
}
