package e2e

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	simaws "github.com/muster-project/muster/sim/aws"

	"github.com/muster-project/muster/test/e2e/account"
	"github.com/muster-project/muster/test/e2e/world"
	"github.com/muster-project/muster/test/testrun"
)

// The pool of the rollouts' guide, and how many of its machines may be missing, as its manifest has it.
const (
	rolloutPool    = "workers"
	rolloutCluster = "demo"
	rolloutMissing = 1
)

// rolloutReplicas are fewer than the guide has, so that the test is short.
var rolloutReplicas = flag.Int("replicas", 4, "how many machines TestLongRollouts rolls")

// rolloutMachines is the number of machines that have a Machine. It is small because Cluster API checks each drain only every twenty
// seconds.
const rolloutMachines = 2

// rolloutPart is one kind of cause for replacing machines.
type rolloutPart struct {
	name string
	run  func(r *rollouts)
}

// TestLongRollouts has one world in which machines go for every reason that there is, beneath a Deployment with a budget.
func TestLongRollouts(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	runRollouts(t, *rolloutReplicas,
		rolloutPart{"ImageReplacesEveryMachineInWaves", replacesForImage},
		rolloutPart{"PausedRolloutThenRestart", restartsNow},
		rolloutPart{"UnhealthyMachineDrainedAndReplaced", replacesUnhealthy},
		rolloutPart{"ScaleInRemovesMarkedMachine", removesMarked},
		rolloutPart{"RefreshReplacesEveryMachine", refreshesGroup},
	)
}

// TestLongMachines is the same with a Machine for every machine.
func TestLongMachines(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	runRollouts(t, rolloutMachines,
		rolloutPart{"DeletedMachineDrainedAndReplaced", deletesMachine},
		rolloutPart{"RolloutDeletesMachines", rollsMachines},
	)
}

// runRollouts has a world with the guide's pool, in which one part follows the other.
func runRollouts(t *testing.T, replicas int, parts ...rolloutPart) {
	t.Helper()
	manifest, err := os.ReadFile("../../docs/rollouts/pool.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pool.yaml")
	if err := os.WriteFile(file, bytes.ReplaceAll(manifest, []byte("${REPLICAS:=10}"), []byte(strconv.Itoa(replicas))), 0o600); err != nil {
		t.Fatal(err)
	}
	w := world.Start(t, t.TempDir(), "-f", file)
	w.Ready(rolloutPool, replicas)
	w.Web(rolloutCluster, 2*replicas)
	r := &rollouts{World: w, Witness: w.Watch(rolloutCluster), replicas: replicas}
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.run(r.in(t)) })
	}
}

// rollouts is a world in which machines go, with who watches it.
type rollouts struct {
	*world.World
	*world.Witness
	// replicas is the pool's number of replicas.
	replicas int
}

// surge returns how many machines above replicas may exist: a quarter, rounded up.
func (r *rollouts) surge() int { return (r.replicas + 3) / 4 }

func (r *rollouts) in(t *testing.T) *rollouts {
	return &rollouts{World: r.In(t), Witness: r.Witness, replicas: r.replicas}
}

// rolloutChange does something to the pool, waits until it is at rest again, and holds what must be so of every change: machines go
// drained, and no pod is lost beyond its budget.
type rolloutChange struct {
	// do begins it; until reports whether it has ended.
	do    func()
	until func() error
	// made and gone are the numbers of machines that are launched and removed.
	made, gone int
	// lowest is the least number of Nodes that serve at a time, most the largest number of machines that exist and are not on their way out.
	lowest, most int
}

func (r *rollouts) holds(c rolloutChange) {
	t := r.T
	t.Helper()
	r.Begin()
	before := r.launches()
	c.do()
	most := 0
	r.Eventually("the change to come to its end", func() error {
		most = max(most, r.members())
		return c.until()
	})
	r.Workload(rolloutCluster, "wait", "deployment/web", "--for=condition=Available", "--timeout", world.WaitLimit.String())
	// Nodes go a moment after their machines.
	r.Eventually(fmt.Sprintf("%d nodes to be gone", c.gone), func() error {
		if _, gone, _, _ := r.Saw(); len(gone) != c.gone {
			return fmt.Errorf("gone are %v", gone)
		}
		return nil
	})
	lowest, gone, evicted, err := r.Saw()
	if err != nil {
		t.Errorf("what must not happen: %v", err)
	}
	if lowest < c.lowest || most > c.most {
		t.Errorf("want at least %d nodes that serve and at most %d machines, at every moment; got %d and %d", c.lowest, c.most, lowest, most)
	}
	if made := r.launches() - before; made != c.made {
		t.Errorf("want %d machines made and not one more, got %d", c.made, made)
	}
	t.Logf("made %d, gone %d, evicted %d pods; serving at least %d, machines at most %d", c.made, len(gone), evicted, lowest, most)
	if t.Failed() {
		t.Log(r.Kubectl("get", "events", "--sort-by=.metadata.creationTimestamp"))
	}
}

// launches counts what the group has ever launched.
func (r *rollouts) launches() int {
	r.T.Helper()
	n := 0
	pages := autoscaling.NewDescribeScalingActivitiesPaginator(account.Of(r.World).Scaling, &autoscaling.DescribeScalingActivitiesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(r.T.Context())
		if err != nil {
			r.T.Fatal(err)
		}
		for _, a := range page.Activities {
			if strings.HasPrefix(aws.ToString(a.Description), "Launching a new EC2 instance") {
				n++
			}
		}
	}
	return n
}

// members returns the machines of the account's groups that are not on their way out; none while the cloud is away.
func (r *rollouts) members() int {
	r.T.Helper()
	var account simaws.State
	if err := r.TryAdmin(http.MethodGet, "state", "", &account); err != nil {
		return 0
	}
	n := 0
	for _, g := range account.Groups {
		for _, m := range g.Members {
			if !strings.HasPrefix(m.State, "Terminat") {
				n++
			}
		}
	}
	return n
}

// nodeNames returns the nodes that exist.
func (r *rollouts) nodeNames() []string {
	r.T.Helper()
	return strings.Fields(r.ReadFrom(rolloutCluster, "{.items[*].metadata.name}", "nodes"))
}

// replaced reports whether none of the nodes that were there is there any more, and that the pool is at rest with the others.
func (r *rollouts) replaced(before []string) func() error {
	return func() error {
		now := r.nodeNames()
		for _, name := range before {
			if slices.Contains(now, name) {
				return fmt.Errorf("node %s is still there", name)
			}
		}
		return r.atRest(r.replicas)
	}
}

// atRest reports whether the pool has as many machines as it wants, all Ready and of the wanted template, and nothing else to do.
func (r *rollouts) atRest(replicas int) error {
	const path = `{.status.replicas} {.status.readyReplicas} {.status.upToDateReplicas} {.status.state} {.status.conditions[?(@.type=="UpToDate")].status}`
	got := r.Read(path, "awsmachinepool/"+rolloutPool)
	if want := fmt.Sprintf("%d %d %d Running True", replicas, replicas, replicas); got != want {
		return fmt.Errorf("want %s, the pool says %s; its conditions are\n%s", want, got, r.Conditions(rolloutPool))
	}
	return nil
}

// happened waits for an event, since events are sent a while after their cause.
func (r *rollouts) happened(reason, message string) {
	r.T.Helper()
	r.Eventually(fmt.Sprintf("an event %s that says %s", reason, message), func() error {
		got := r.Read(`{range .items[*]}{.message}{"\n"}{end}`, "events", "--field-selector", "involvedObject.kind=AWSMachinePool,reason="+reason)
		if !regexp.MustCompile(message).MatchString(got) {
			return fmt.Errorf("there are\n%s", got)
		}
		return nil
	})
}

// anotherImage returns an image that the pool's machines do not have, for its Kubernetes version.
func (r *rollouts) anotherImage() string {
	r.T.Helper()
	c := account.Of(r.World)
	instances, err := c.EC2.DescribeInstances(r.T.Context(), &ec2.DescribeInstancesInput{Filters: []ec2types.Filter{
		{Name: aws.String("instance-state-name"), Values: []string{"running"}}}})
	if err != nil || len(instances.Reservations) == 0 {
		r.T.Fatalf("want instances, got %v", err)
	}
	in := aws.ToString(instances.Reservations[0].Instances[0].ImageId)
	images, err := c.EC2.DescribeImages(r.T.Context(),
		&ec2.DescribeImagesInput{Filters: []ec2types.Filter{{Name: aws.String("name"), Values: []string{"capa-ami-*-v1.30.2-*"}},
			{Name: aws.String("architecture"), Values: []string{"x86_64"}}}})
	if err != nil {
		r.T.Fatal(err)
	}
	for _, i := range images.Images {
		if id := aws.ToString(i.ImageId); id != in {
			return id
		}
	}
	r.T.Fatalf("want an image beside %s, found %d", in, len(images.Images))
	return ""
}

// replacesForImage rolls the pool by its strategy.
func replacesForImage(r *rollouts) {
	before, image := r.nodeNames(), r.anotherImage()
	r.holds(rolloutChange{
		do: func() {
			r.Kubectl("patch", "awsmachinepool/"+rolloutPool, "--type=merge", "-p", `{"spec":{"awsLaunchTemplate":{"ami":{"id":"`+image+`"}}}}`)
		},
		until: r.replaced(before), made: r.replicas, gone: r.replicas,
		lowest: r.replicas - rolloutMissing, most: r.replicas + r.surge(),
	})
	r.happened("InstancesReplaced", `ip-\S+: launched from lt-\w+:1, which differs`)
	r.happened("RolloutCompleted", fmt.Sprintf("%[1]d of %[1]d machines were launched from the wanted launch template", r.replicas))
}

// killInDrain ends the controllers, and then the cloud with all its machines, while a node is drained. Both come back.
func (r *rollouts) killInDrain() {
	r.T.Helper()
	r.Eventually("a node to be drained", func() error {
		if r.ReadFrom(rolloutCluster, `{.items[*].metadata.annotations.muster\.dev/drain-started}`, "nodes") == "" {
			return errors.New("none is")
		}
		return nil
	})
	r.KillChild("controllers")
	r.KillChild("clouds")
}

// restartsNow holds a rollout and lets it go.
func restartsNow(r *rollouts) {
	before := r.nodeNames()
	r.Kubectl("annotate", "machinepool/"+rolloutPool, "muster.dev/rollout=paused")
	r.holds(rolloutChange{
		do: func() {
			r.Kubectl("annotate", "awsmachinepool/"+rolloutPool, "muster.dev/restart-now=the certificates have leaked")
			r.Eventually("the pool to say that its rollout is paused", func() error {
				if got := r.Conditions(rolloutPool); !strings.Contains(got, "UpToDate=False RolloutPaused") {
					return fmt.Errorf("the conditions are\n%s", got)
				}
				return nil
			})
			if now := r.nodeNames(); !slices.Equal(now, before) {
				r.T.Errorf("want no machine replaced while the rollout is paused: %v, got %v", before, now)
			}
			r.Kubectl("annotate", "machinepool/"+rolloutPool, "muster.dev/rollout-")
			r.killInDrain()
		},
		until: r.replaced(before), made: r.replicas, gone: r.replicas,
		lowest: r.replicas - rolloutMissing, most: r.replicas + r.surge(),
	})
	r.happened("InstancesReplaced", "the certificates have leaked")
	r.Kubectl("annotate", "awsmachinepool/"+rolloutPool, "muster.dev/restart-now-")
}

// instanceOf returns the instance behind a node.
func (r *rollouts) instanceOf(node string) string {
	r.T.Helper()
	id := r.ReadFrom(rolloutCluster, "{.spec.providerID}", "node", node)
	return id[strings.LastIndex(id, "/")+1:]
}

// without reports whether a node is gone and the pool at rest.
func (r *rollouts) without(node string, replicas int) func() error {
	return func() error {
		if slices.Contains(r.nodeNames(), node) {
			return fmt.Errorf("node %s is still there", node)
		}
		return r.atRest(replicas)
	}
}

// nudgePause is longer than an observation of the cloud is good enough for a pass that an event asks for.
const nudgePause = 11 * time.Second

// nudged touches the pool now and then while something is waited for that the cloud does by itself: it would be seen with the
// next look at a pool at rest, which is minutes away.
func (r *rollouts) nudged(until func() error) func() error {
	last := time.Now()
	return func() error {
		err := until()
		if err != nil && time.Since(last) > nudgePause {
			last = time.Now()
			r.Kubectl("annotate", "--overwrite", "awsmachinepool/"+rolloutPool, "example.com/looked-at="+last.Format("150405"))
		}
		return err
	}
}

// replacesUnhealthy has the group itself take a machine: the hook holds it until it is drained.
func replacesUnhealthy(r *rollouts) {
	victim := r.nodeNames()[1]
	id := r.instanceOf(victim)
	r.holds(rolloutChange{
		do: func() {
			_, err := account.Of(r.World).Scaling.SetInstanceHealth(r.T.Context(), &autoscaling.SetInstanceHealthInput{
				InstanceId: aws.String(id), HealthStatus: aws.String("Unhealthy"), ShouldRespectGracePeriod: aws.Bool(false)})
			if err != nil {
				r.T.Fatal(err)
			}
		},
		until: r.nudged(r.without(victim, r.replicas)), made: 1, gone: 1, lowest: r.replicas - 1, most: r.replicas + 1,
	})
	r.happened("InstancesReleased", id)
}

// removesMarked scales in by one: the machine whose node is marked goes, though it is not the first in order.
func removesMarked(r *rollouts) {
	names := r.nodeNames()
	victim := names[len(names)-1]
	r.Workload(rolloutCluster, "annotate", "node", victim, "cluster.x-k8s.io/delete-machine=yes")
	r.holds(rolloutChange{
		do: func() {
			r.Kubectl("scale", "machinepool/"+rolloutPool, fmt.Sprintf("--replicas=%d", r.replicas-1))
		},
		until: r.without(victim, r.replicas-1), gone: 1, lowest: r.replicas - 1, most: r.replicas,
	})
	r.happened("InstancesRemoved", regexp.QuoteMeta(victim))
	r.Kubectl("scale", "machinepool/"+rolloutPool, fmt.Sprintf("--replicas=%d", r.replicas))
	r.Ready(rolloutPool, r.replicas)
}

// refreshesGroup requests the group's own refresh. The group then replaces stale instances itself, with a drain of each all the same. It
// considers a machine healthy after its warmup, whether it has joined or not, and never one that Muster's hook holds.
func refreshesGroup(r *rollouts) {
	const healthy = 75 // percent
	before := r.nodeNames()
	r.holds(rolloutChange{
		do: func() {
			r.Kubectl("patch", "awsmachinepool/"+rolloutPool, "--type=merge", "-p", fmt.Sprintf(
				`{"spec":{"strategy":{"type":"InstanceRefresh"},"refreshPreferences":{"minHealthyPercentage":%d,"instanceWarmup":75},"awsLaunchTemplate":{"instanceType":"t3.xlarge"}}}`, healthy))
		},
		until: r.replaced(before), made: r.replicas, gone: r.replicas,
		lowest: (r.replicas*healthy + 99) / 100, most: r.replicas,
	})
	r.happened("ProviderRolloutStarted", `Started rollout of the Auto Scaling group to lt-\w+:\d+`)
}

// machines returns the names of the pool's Machines by the names of their nodes.
func (r *rollouts) machines() map[string]string {
	r.T.Helper()
	const path = `{range .items[*]}{.status.nodeRef.name} {.metadata.name}{"\n"}{end}`
	all := map[string]string{}
	for line := range strings.Lines(r.Read(path, "machines", "-l", "cluster.x-k8s.io/pool-name="+rolloutPool)) {
		if node, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all[node] = name
		}
	}
	return all
}

// deletesMachine gives every machine of the pool a Machine, and deletes one.
func deletesMachine(r *rollouts) {
	r.Kubectl("annotate", "awsmachinepool/"+rolloutPool, "muster.dev/machines=true")
	r.Eventually("a Machine with its node for every machine", func() error {
		if got, nodes := r.machines(), r.nodeNames(); len(got) != len(nodes) {
			return fmt.Errorf("nodes are %v, Machines by node %v", nodes, got)
		}
		return nil
	})
	victim := r.nodeNames()[1]
	machine := r.machines()[victim]
	r.ByOthers()
	r.holds(rolloutChange{
		do:    func() { r.Kubectl("delete", "machine/"+machine, "--wait=false") },
		until: r.without(victim, r.replicas), made: 1, gone: 1, lowest: r.replicas - 1, most: r.replicas + 1,
	})
	if got := r.Kubectl("get", "machine,awsmachine", "-o", "name"); strings.Contains(got, machine) {
		r.T.Errorf("want nothing left of Machine %s, got\n%s", machine, got)
	}
}

// rollsMachines replaces every machine by deleting its Machine: drains are those of cluster-api, under the pool's limits.
func rollsMachines(r *rollouts) {
	before, machines := r.nodeNames(), r.machines()
	r.holds(rolloutChange{
		do:    func() { r.Kubectl("annotate", "awsmachinepool/"+rolloutPool, "muster.dev/restart-now=a new kernel") },
		until: r.replaced(before), made: r.replicas, gone: r.replicas,
		lowest: r.replicas - rolloutMissing, most: r.replicas + r.surge(),
	})
	r.Eventually("a Machine for every machine, and no other", func() error {
		got := r.Kubectl("get", "machine,awsmachine", "-o", "name")
		for _, old := range machines {
			if strings.Contains(got, old) {
				return fmt.Errorf("%s is still there:\n%s", old, got)
			}
		}
		if n := len(strings.Fields(got)); n != 2*r.replicas {
			return fmt.Errorf("there are\n%s", got)
		}
		return nil
	})
}
