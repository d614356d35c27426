package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/test/e2e/world"
	"github.com/muster-project/muster/test/testrun"
)

const (
	// topologySpeed is the speed of this world.
	topologySpeed = "40"
	// topologyQuietFor is the time without any write that counts as rest. It covers several passes of every controller with a timer.
	topologyQuietFor = 10 * time.Second
)

// topologyKinds lists the kinds that the topology controller, Cluster API's other controllers and Muster write for a Cluster with a class.
const topologyKinds = "cluster,clusterclass,machinepool,awsmachinepool,kubeadmconfig,localcontrolplane,awscluster,awsmachinepooltemplate," +
	"kubeadmconfigtemplate"

// TestLongTopology has cluster-api's topology controller make the pools of a Cluster from a ClusterClass, and change and delete them.
func TestLongTopology(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	w := world.Start(t, t.TempDir(), "-f", filepath.Join("..", "..", "docs", "clusterclass", "aws.yaml"), "--feature-gates",
		"ClusterTopology=true", "--speed", topologySpeed)
	c := &topologyWorld{World: w, pool: map[string]string{}, infra: map[string]string{}}
	for _, part := range []struct {
		name string
		run  func(*topologyWorld)
	}{
		{"PoolsMatchVariables", topologyUp},
		{"NoWritesAtRest", topologyRests},
		{"ClassChangesTemplate", topologyTemplate},
		{"ControlPlaneUpgradedBeforePools", topologyUpgrade},
		{"RemovedPoolDrained", topologyLeaves},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(c.in(t)) }) {
			return
		}
	}
}

// topologyWorld is a world with a Cluster of a class, and the names that the topology controller has given to its MachinePools and their
// infrastructure, by the pools' names in the topology.
type topologyWorld struct {
	*world.World
	pool, infra map[string]string
}

const (
	shopCluster        = "shop"
	webPool, batchPool = "web", "batch"
)

func (c *topologyWorld) in(t *testing.T) *topologyWorld {
	return &topologyWorld{World: c.In(t), pool: c.pool, infra: c.infra}
}

// find waits for the objects of a pool of the topology.
func (c *topologyWorld) find(name string) {
	c.T.Helper()
	c.Eventually("the objects of pool "+name, func() error {
		const selector = "cluster.x-k8s.io/cluster-name=" + shopCluster + ",topology.cluster.x-k8s.io/owned=,topology.cluster.x-k8s.io/pool-name="
		got := strings.Fields(c.Read("{.items[*].metadata.name}", "machinepool,awsmachinepool,kubeadmconfig", "-l", selector+name))
		if len(got) != 3 {
			return fmt.Errorf("want a MachinePool, its infrastructure and its configuration with the topology's labels, got %v", got)
		}
		c.pool[name], c.infra[name] = got[0], got[1]
		return nil
	})
}

// serves waits until a pool has that many machines, all Ready, of that Kubernetes version and from the wanted template.
func (c *topologyWorld) serves(name string, replicas int, version string) {
	c.T.Helper()
	const path = `{.status.replicas} {.status.readyReplicas} {.status.upToDateReplicas} {.status.state} {.status.conditions[?(@.type=="Ready")].status} {.status.version}`
	c.Eventually(fmt.Sprintf("%d machines of pool %s at %s", replicas, name, version), func() error {
		got := c.Read(path, "awsmachinepool", c.infra[name])
		if want := fmt.Sprintf("%[1]d %[1]d %[1]d Running True %[2]s", replicas, version); got != want {
			return fmt.Errorf("want %s, it says %s", want, got)
		}
		return nil
	})
	// The controller of Machines labels a Node a moment after its machine is Ready.
	c.Eventually("the nodes of pool "+name+" to have the label of their class", func() error {
		nodes := strings.Fields(c.ReadFrom(shopCluster,
			`{range .items[?(@.metadata.annotations.cluster\.x-k8s\.io/owner-name=="`+c.pool[name]+
				`")]}{.status.nodeInfo.kubeletVersion}{"\n"}{end}`, "nodes", "-l", "node.cluster.x-k8s.io/class=workers"))
		if want := slices.Repeat([]string{version}, replicas); !slices.Equal(nodes, want) {
			return fmt.Errorf("want versions %v, got %v", want, nodes)
		}
		return nil
	})
}

// reconciled waits until the topology controller has nothing left to do, and knows it.
func (c *topologyWorld) reconciled() {
	c.T.Helper()
	c.Eventually("the topology to be reconciled", func() error {
		got := c.Read(`{.status.conditions[?(@.type=="TopologyReconciled")]}`, "cluster", shopCluster)
		if !strings.Contains(got, `"status":"True"`) {
			return errors.New("it says " + got)
		}
		return nil
	})
}

func (c *topologyWorld) topology(patch string) {
	c.T.Helper()
	c.Kubectl("patch", "cluster", shopCluster, "--type=json", "-p", patch)
}

func topologyUp(c *topologyWorld) {
	for _, p := range []struct {
		name, instanceType string
		replicas           int
	}{{webPool, "t3.large", 2}, {batchPool, "m5.large", 1}} {
		c.find(p.name)
		c.serves(p.name, p.replicas, "v1.33.1")
		got := c.Read("{.spec.awsLaunchTemplate.instanceType} {.spec.additionalTags.pool}", "awsmachinepool", c.infra[p.name])
		if want := p.instanceType + " " + p.name; got != want {
			c.T.Errorf("pool %s: want the patches of the class to make it %s, got %s", p.name, want, got)
		}
	}
	c.reconciled()
}

// versions returns the resource versions of everything that belongs to the Cluster.
func (c *topologyWorld) versions() string {
	c.T.Helper()
	return c.Read(`{range .items[*]}{.kind} {.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`, topologyKinds)
}

// topologyRests waits for topologyQuietFor without a write. Machines are Ready some seconds before the last controller has seen it, and
// later on a busy machine.
func topologyRests(c *topologyWorld) {
	c.Eventually(fmt.Sprintf("%v without a write", topologyQuietFor), func() error {
		before := c.versions()
		c.ForgetCalls()
		timer := time.NewTimer(topologyQuietFor)
		defer timer.Stop()
		<-timer.C
		var written error
		if after := c.versions(); after != before {
			written = fmt.Errorf("the objects were\n%s\nand are\n%s", before, after)
		}
		if calls := c.Calls(); calls.Mutating != 0 {
			written = errors.Join(written, fmt.Errorf("the cloud got %s", calls))
		}
		if written != nil {
			c.T.Log(written)
		}
		return written
	})
}

func topologyTemplate(c *topologyWorld) {
	const edit = `{"spec":{"template":{"spec":{"maxSize":12}}}}`
	out, err := c.Try("", "--kubeconfig", c.Kubeconfig, "patch", "awsmachinepooltemplate/ec2-workers", "--type=merge", "-p", edit)
	if err == nil || !strings.Contains(out,
		"spec.template.spec: Forbidden: can't be changed: make another AWSMachinePoolTemplate, and have the ClusterClass name it") {
		c.T.Errorf("want the change refused, and to be told what to do instead, got %v: %s", err, out)
	}
	nodes := c.ReadFrom(shopCluster, "{.items[*].metadata.uid}", "nodes")
	c.Apply(`apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSMachinePoolTemplate
metadata: {name: ec2-workers-v2, namespace: default}
spec:
  template:
    spec:
      minSize: 0
      maxSize: 12
      subnets: ` + c.Read("{.spec.template.spec.subnets}", "awsmachinepooltemplate/ec2-workers") + `
      awsLaunchTemplate: {sshKeyName: ` + c.Read("{.spec.template.spec.awsLaunchTemplate.sshKeyName}",
		"awsmachinepooltemplate/ec2-workers") + `}
      strategy: {rollingUpdate: {maxSurge: 1}}
`)
	c.Kubectl("patch", "clusterclass", "ec2", "--type=json", "-p",
		`[{"op":"replace","path":"/spec/workers/machinePools/0/infrastructure/templateRef/name","value":"ec2-workers-v2"}]`)
	for _, name := range []string{webPool, batchPool} {
		c.Wait("awsmachinepool/"+c.infra[name], "{.spec.maxSize}", "12")
	}
	c.reconciled()
	if got := c.ReadFrom(shopCluster, "{.items[*].metadata.uid}", "nodes"); got != nodes {
		c.T.Errorf("want no machine replaced for another size of the groups: nodes were %s, and are %s", nodes, got)
	}
}

func topologyUpgrade(c *topologyWorld) {
	c.topology(`[{"op":"replace","path":"/spec/topology/workers/machinePools/0/replicas","value":3},{"op":"replace","path":"/spec/topology/version","value":"v1.34.1"}]`)
	c.Eventually("the pools to go on to the version of the control plane", func() error {
		// The pools are read first. So the control plane, read second, must have the new version already.
		pools := c.Read("{.items[*].spec.template.spec.version}", "machinepool")
		controlPlane := c.Read("{.items[*].status.version}", "localcontrolplane")
		if strings.Contains(pools, "v1.34.1") && controlPlane != "v1.34.1" {
			c.T.Errorf("a pool is of version %s before its control plane, which is of %s", pools, controlPlane)
		}
		if pools != "v1.34.1 v1.34.1" {
			return errors.New("they are of " + pools)
		}
		return nil
	})
	c.serves(webPool, 3, "v1.34.1")
	c.serves(batchPool, 1, "v1.34.1")
	c.reconciled()
}

func topologyLeaves(c *topologyWorld) {
	seen := c.Watch(shopCluster)
	seen.Begin()
	batchNode := c.ReadFrom(shopCluster, `{.items[?(@.metadata.annotations.cluster\.x-k8s\.io/owner-name=="`+c.pool[batchPool]+`")].metadata.name}`,
		"nodes")
	c.topology(`[{"op":"remove","path":"/spec/topology/workers/machinePools/1"}]`)
	for _, o := range []string{"machinepool/" + c.pool[batchPool], "awsmachinepool/" + c.infra[batchPool]} {
		c.Kubectl("wait", o, "--for=delete", "--timeout", world.WaitLimit.String())
	}
	c.Eventually("the node of the pool to be gone, and no other", func() error {
		if _, gone, _, _ := seen.Saw(); !slices.Equal(gone, []string{batchNode}) {
			return fmt.Errorf("want %s gone, gone are %v", batchNode, gone)
		}
		return nil
	})
	if _, _, _, err := seen.Saw(); err != nil {
		c.T.Errorf("what must not happen: %v", err)
	}
	c.serves(webPool, 3, "v1.34.1")
	if got := c.Read("{.items[*].metadata.labels.topology\\.cluster\\.x-k8s\\.io/pool-name}", "kubeadmconfig"); got != webPool {
		c.T.Errorf("want the configuration of pool %s alone, got those of %s", webPool, got)
	}
}
