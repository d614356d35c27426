package aws_test

import (
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
)

const (
	eksName    = "east"
	eksVersion = "1.33"
)

// nodeWorld is a world with an EKS cluster and, where nodes are asked for, guests that answer for them.
type nodeWorld struct {
	*world
	eks   *eks.Client
	iam   *iam.Client
	nodes *nodes
}

// nodes are guests whose machines are nodes at once, unless a user holds them back.
type nodes struct {
	guests
	mu sync.Mutex
	// silent machines do not join, stubborn ones cannot be drained.
	silent, stubborn bool
	cordoned         map[string]bool
	drained          map[string]int
	marks            map[string]sim.Marks
}

func (n *nodes) Ready(id string) bool {
	n.guests.mu.Lock()
	defer n.guests.mu.Unlock()
	_, on := n.running[id]
	n.mu.Lock()
	defer n.mu.Unlock()
	return on && !n.silent
}

func (n *nodes) Cordon(id string, closed bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cordoned[id] = closed
}

func (n *nodes) Drain(id string, force bool) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drained[id]++
	return force || !n.stubborn
}

func (n *nodes) Mark(id string, change sim.Marks) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.marks[id] = change
}

func (n *nodes) Unregister(string) {}

func (n *nodes) set(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f()
}

// drains are how often the machines were asked to drain, closed reports whether one is closed to pods, machine is one that runs, and
// changes are what was put on nodes.
func (n *nodes) drains() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.drained)
}

func (n *nodes) closed(id string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cordoned[id]
}

func (n *nodes) changes() map[string]sim.Marks {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.marks)
}

func (n *nodes) machines() map[string]sim.Machine {
	n.guests.mu.Lock()
	defer n.guests.mu.Unlock()
	return maps.Clone(n.running)
}

// inNodeWorld runs a test in virtual time with a cluster.
func inNodeWorld(t *testing.T, o aws.Options, f func(t *testing.T, w *nodeWorld)) {
	t.Helper()
	n := &nodes{guests: guests{running: map[string]sim.Machine{}}, cordoned: map[string]bool{}, drained: map[string]int{},
		marks: map[string]sim.Marks{}}
	o.Speed = 10
	inWorldOf(t, o, n, func(t *testing.T, w *world) {
		a := aws.DefaultAccount()
		c := config(checked{w.server, w.t}, a.AccessKeyID, a.SecretAccessKey, "", aws.Region)
		ok(t, w.server.PutCluster(aws.AccountID, aws.EKSCluster{
			Name: eksName, Version: "v" + eksVersion + ".2", Endpoint: "https://127.0.0.1:1", CA: []byte("certificates"),
			Token:   "abcdef.0123456789abcdef",
			Subnets: []string{aws.SubnetID}, SecurityGroup: aws.NodeSecurityGroupID,
		}))
		f(t, &nodeWorld{world: w, eks: eks.NewFromConfig(c), iam: iam.NewFromConfig(c), nodes: n})
	})
}

// input is a node group of two nodes as most ask for it.
func (w *nodeWorld) input(name string, change ...func(*eks.CreateNodegroupInput)) *eks.CreateNodegroupInput {
	n := aws.DefaultAccount().Network
	in := &eks.CreateNodegroupInput{
		ClusterName: awssdk.String(eksName), NodegroupName: &name,
		NodeRole:      awssdk.String("arn:aws:iam::" + aws.AccountID + ":role/" + aws.NodegroupRole),
		Subnets:       []string{n.Subnets[0].ID, n.Subnets[1].ID, n.Subnets[2].ID},
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: awssdk.Int32(1), MaxSize: awssdk.Int32(4), DesiredSize: awssdk.Int32(2)},
		Labels:        map[string]string{"tier": "blue"},
		Taints:        []ekstypes.Taint{{Key: awssdk.String("only"), Value: awssdk.String("x"), Effect: ekstypes.TaintEffectNoSchedule}},
		Tags:          map[string]string{"muster.dev/owner": "me"},
	}
	for _, f := range change {
		f(in)
	}
	return in
}

// make creates a node group and waits until it is active.
func (w *nodeWorld) make(name string, change ...func(*eks.CreateNodegroupInput)) *ekstypes.Nodegroup {
	w.t.Helper()
	_, err := w.eks.CreateNodegroup(w.t.Context(), w.input(name, change...))
	ok(w.t, err)
	return w.until(name, ekstypes.NodegroupStatusActive, 5*time.Minute)
}

// nodegroup describes a node group.
func (w *nodeWorld) nodegroup(name string) *ekstypes.Nodegroup {
	w.t.Helper()
	out, err := w.eks.DescribeNodegroup(w.t.Context(), &eks.DescribeNodegroupInput{ClusterName: awssdk.String(eksName), NodegroupName: &name})
	ok(w.t, err)
	return out.Nodegroup
}

// until waits until a node group has a status.
func (w *nodeWorld) until(name string, status ekstypes.NodegroupStatus, limit time.Duration) *ekstypes.Nodegroup {
	w.t.Helper()
	for end := time.Now().Add(limit); ; after(200 * time.Millisecond) {
		n := w.nodegroup(name)
		if n.Status == status {
			return n
		}
		if time.Now().After(end) {
			w.t.Fatalf("node group %s: want %s within %s, is %s: %s", name, status, limit, n.Status, issues(n))
		}
	}
}

func issues(n *ekstypes.Nodegroup) string {
	var out []string
	for _, i := range n.Health.Issues {
		out = append(out, string(i.Code)+": "+*i.Message)
	}
	return strings.Join(out, "; ")
}

func (w *nodeWorld) behind(n *ekstypes.Nodegroup) string {
	w.t.Helper()
	if n.Resources == nil || len(n.Resources.AutoScalingGroups) != 1 {
		w.t.Fatalf("want a group behind the node group, got %+v", n.Resources)
	}
	return *n.Resources.AutoScalingGroups[0].Name
}

// source makes a launch template that a node group can be made with.
func (w *nodeWorld) source(name string, data *types.RequestLaunchTemplateData) string {
	w.t.Helper()
	out, err := w.ec2.CreateLaunchTemplate(w.t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: &name, LaunchTemplateData: data})
	ok(w.t, err)
	return *out.LaunchTemplate.LaunchTemplateId
}

func with(template, version string) func(*eks.CreateNodegroupInput) {
	return func(in *eks.CreateNodegroupInput) {
		in.LaunchTemplate = &ekstypes.LaunchTemplateSpecification{Id: &template, Version: &version}
	}
}

// A node group comes with a group like any other, whose machines know their cluster, and goes with all of it.
func TestNodegroupLife(t *testing.T) {
	inNodeWorld(t, aws.Options{}, func(t *testing.T, w *nodeWorld) {
		made, err := w.eks.CreateNodegroup(t.Context(), w.input("blue"))
		ok(t, err)
		if made.Nodegroup.Status != ekstypes.NodegroupStatusCreating || made.Nodegroup.Resources != nil {
			t.Errorf("want CREATING without a group, got %s with %+v", made.Nodegroup.Status, made.Nodegroup.Resources)
		}
		n := w.until("blue", ekstypes.NodegroupStatusActive, 5*time.Minute)
		if *n.Version != eksVersion || n.AmiType != ekstypes.AMITypesAl2023X8664Standard || len(n.InstanceTypes) != 1 ||
			n.Tags["muster.dev/owner"] != "me" {
			t.Errorf("want EKS's defaults and our tag, got version %s, type %s, %v, %v", *n.Version, n.AmiType, n.InstanceTypes, n.Tags)
		}
		name := w.behind(n)
		g := w.read(name)
		if !strings.HasPrefix(name, "eks-blue-") || g.MixedInstancesPolicy == nil || len(g.Instances) != 2 {
			t.Errorf("want a group of EKS's of two, got %s with %d", name, len(g.Instances))
		}
		w.wantServing(name, 2)
		for _, i := range g.Instances {
			m := w.nodes.machines()[*i.InstanceId]
			if m.Managed == nil || m.Managed.Cluster != eksName || m.Managed.Group != "blue" || m.Managed.Token == "" || m.Managed.Own {
				t.Fatalf("want a machine that knows its cluster, got %+v", m.Managed)
			}
			if got := m.Managed.Labels; got["eks.amazonaws.com/nodegroup"] != "blue" || got["eks.amazonaws.com/capacityType"] != "ON_DEMAND" ||
				got["tier"] != "blue" {
				t.Errorf("want EKS's labels and ours, got %v", got)
			}
			if m.KubeletVersion != "v1.33.10" || m.Managed.Taints[0] != (sim.Taint{Key: "only", Value: "x", Effect: "NoSchedule"}) {
				t.Errorf("want the release's kubelet and our taint, got %s, %v", m.KubeletVersion, m.Managed.Taints)
			}
		}
		_, err = w.eks.DeleteNodegroup(t.Context(), &eks.DeleteNodegroupInput{ClusterName: awssdk.String(eksName),
			NodegroupName: awssdk.String("blue")})
		ok(t, err)
		w.until("blue", ekstypes.NodegroupStatusDeleting, time.Second)
		after(time.Minute)
		_, err = w.eks.DescribeNodegroup(t.Context(), &eks.DescribeNodegroupInput{ClusterName: awssdk.String(eksName),
			NodegroupName: awssdk.String("blue")})
		wantCode(t, err, "ResourceNotFoundException")
		if s := w.server.State(aws.AccountID, aws.Region); len(s.Groups)+len(s.Templates)+len(s.Nodegroups)+len(s.Living()) != 0 {
			t.Errorf("want nothing left, got %+v", s)
		}
		if len(w.nodes.drains()) != 2 {
			t.Errorf("want both machines drained before they went, got %v", w.nodes.drains())
		}
	})
}
