package explore

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/oracle"
)

// object is what the Kubernetes API holds of the pool: it survives every restart.
type object struct {
	owner        cloud.Owner
	replicas     int
	external     bool
	deleting     bool
	spec         awsv1.AWSMachinePoolSpec
	bootstrap    string
	token        int
	remembered   map[string]string
	drainTimeout time.Duration
	policy       pool.DeletePolicy
}

func newObject(s scenario) *object {
	return &object{
		owner:    cloud.Owner{ID: fmt.Sprintf("owner-%d", s.seed), Cluster: "c", Namespace: "default", Name: "pool"},
		replicas: s.replicas, external: s.external, drainTimeout: s.drainTimeout,
		policy: []pool.DeletePolicy{pool.Oldest, pool.Newest, pool.Random}[s.policy],
		spec: awsv1.AWSMachinePoolSpec{
			MinSize: int32(s.least), MaxSize: int32(s.most),
			AdditionalTags:    awsv1.Tags{"team": "a"},
			AWSLaunchTemplate: awsv1.AWSLaunchTemplate{InstanceType: simaws.InstanceType, SSHKeyName: awssdk.String(simaws.KeyName)},
		},
	}
}

// rotated puts a new token into the bootstrap data.
func (o *object) rotated(w *workload) {
	o.token++
	o.bootstrap = "#cloud-config\nruncmd: [\"kubeadm join --token " + w.rotate(o.token) + "\"]\n"
}

// facts are what one pass is told, as the Kubernetes edge would put it.
func (o *object) facts(w *workload, now time.Time) engine.Facts[*awsv1.MachinePoolSource] {
	f := engine.Facts[*awsv1.MachinePoolSource]{Marked: w.marked(), Now: now}
	f.Desired = pool.Desired{
		Replicas: o.replicas, External: o.external, Deleting: o.deleting, DrainTimeout: o.drainTimeout, DeletePolicy: o.policy,
		Min: int(o.spec.MinSize), Max: int(o.spec.MaxSize), MinField: "spec.minSize", MaxField: "spec.maxSize",
	}
	f.Target = cloud.Target[*awsv1.MachinePoolSource]{
		Owner: o.owner, KubernetesVersion: "v1.25.0", Remembered: maps.Clone(o.remembered),
		Spec: &awsv1.MachinePoolSource{Cluster: network(), Pool: o.spec.DeepCopy()},
	}
	if o.bootstrap == "" {
		f.Desired.Held = &pool.Cause{Reason: "BootstrapDataMissing", Message: "waiting for the bootstrap data"}
	} else {
		f.Target.Bootstrap = cloud.NewBootstrap([]byte(o.bootstrap), "cloud-config")
	}
	text, err := json.Marshal([]any{f.Desired, f.Target.Owner, f.Target.Bootstrap.Hash(), f.Target.Spec})
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(text)
	f.Generation = hex.EncodeToString(sum[:])
	return f
}

// wanted is what the object asks for, in the oracles' words.
func (o *object) wanted() oracle.Wanted {
	return oracle.Wanted{
		Owner: o.owner.ID, Replicas: o.replicas, Min: int(o.spec.MinSize), Max: int(o.spec.MaxSize), External: o.external, Deleting: o.deleting,
		DrainTimeout: o.drainTimeout,
	}
}

// network is what the simulated account holds, as a cluster would show it.
func network() awsv1.ClusterView {
	n := simaws.DefaultAccount().Network
	view := awsv1.ClusterView{Name: "c", Region: simaws.Region, VPCID: n.VPCID, NodeSecurityGroups: []string{n.NodeSecurityGroupID}}
	for _, s := range n.Subnets {
		view.Subnets = append(view.Subnets, awsv1.SubnetView{ID: s.ID, AvailabilityZone: s.Zone, IsPublic: s.Public})
	}
	return view
}

// editBounds keeps the replicas within the bounds, as people do, unless that is forgotten.
func (o *object) editBounds(n, m int) {
	o.spec.MinSize = int32(n % 4)
	o.spec.MaxSize = o.spec.MinSize + 1 + int32(m%7)
	if (n+m)%3 > 0 {
		o.within()
	}
}

// within brings the replicas within the bounds.
func (o *object) within() {
	o.replicas = min(max(o.replicas, int(o.spec.MinSize)), int(o.spec.MaxSize))
}

// editTemplate changes what machines are launched as.
func (o *object) editTemplate(n int) {
	t := &o.spec.AWSLaunchTemplate
	switch n % 4 {
	case 0:
		t.RootVolume = &awsv1.Volume{Size: int64(40 + 10*n), Type: "gp3"}
	case 1:
		t.RootVolume = nil
		t.InstanceType = simaws.InstanceType
	default:
		t.InstanceType = []string{"m5.large", "c5.large", "m5.xlarge"}[n%3]
	}
}

// editGroup changes one field of the group.
func (o *object) editGroup(n, m int) {
	s := &o.spec
	switch n {
	case 0:
		s.DefaultCoolDown = &metav1.Duration{Duration: time.Duration(30*m) * time.Second}
	case 1:
		s.DefaultInstanceWarmup = &metav1.Duration{Duration: time.Duration(30*m) * time.Second}
	case 2:
		s.CapacityRebalance = !s.CapacityRebalance
	case 3:
		s.AvailabilityZones = [][]string{nil, {"eu-west-1a"}, {"eu-west-1b", "eu-west-1c"}}[m%3]
	case 4, 5:
		s.AdditionalTags = []awsv1.Tags{nil, {"team": "b"}, {"team": "a", "stage": "test"}}[m%3]
	case 6:
		s.SuspendProcesses = &awsv1.SuspendProcessesTypes{Processes: &awsv1.Processes{AZRebalance: awssdk.Bool(m%2 == 0)}}
	case 7:
		s.AWSLifecycleHooks = hooks(m)
	default:
		s.MixedInstancesPolicy = nil
		if m%2 == 0 {
			s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{Overrides: []awsv1.Overrides{{InstanceType: "m5.large"}, {InstanceType: "c5.large"}}}
		}
	}
}

func hooks(n int) []awsv1.AWSLifecycleHook {
	goOn := awsv1.LifecycleHookDefaultResultContinue
	hook := func(name string, at awsv1.LifecycleTransition) awsv1.AWSLifecycleHook {
		return awsv1.AWSLifecycleHook{
			Name: name, LifecycleTransition: at, HeartbeatTimeout: &metav1.Duration{Duration: time.Duration(30*(1+n%3)) * time.Second}, DefaultResult: &goOn,
		}
	}
	switch n % 4 {
	case 0:
		return nil
	case 1:
		return []awsv1.AWSLifecycleHook{hook("hello", awsv1.LifecycleTransitionInstanceLaunching)}
	case 2:
		return []awsv1.AWSLifecycleHook{hook("bye", awsv1.LifecycleTransitionInstanceTerminating)}
	default:
		return []awsv1.AWSLifecycleHook{
			hook("hello", awsv1.LifecycleTransitionInstanceLaunching), hook("bye", awsv1.LifecycleTransitionInstanceTerminating),
		}
	}
}
