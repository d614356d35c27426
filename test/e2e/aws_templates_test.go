package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/muster-project/muster/test/e2e/account"
	"github.com/muster-project/muster/test/e2e/world"
	"github.com/muster-project/muster/test/testrun"
)

// templatesSpeed is the speed of this world. Updates of node groups take simulated minutes. Evictions wait for real servers and have a
// limit of a simulated quarter of an hour, so the speed cannot be much higher.
const templatesSpeed = "20"

// versionsKept is the number of distinct versions that the pools of this world keep of their launch templates.
const versionsKept = 2

// The pools of the world with both kinds, by their infrastructure objects, and their clusters.
const (
	ec2Pool, ec2Cluster = "awsmachinepool/capa-mp-0", "capa"
	eksPool, eksCluster = "awsmanagedmachinepool/eks-mmp-0", "eks"
)

var bothAWSPools = []string{ec2Pool, eksPool}

// TestLongTemplateUpdates edits the launch templates of both kinds of pools with kubectl, and checks their machines, events and histories.
// Then the managed pool changes to another Kubernetes version, is scaled, and is deleted.
func TestLongTemplateUpdates(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	w := world.Start(t, t.TempDir(), "--pools", "capa-mp-0,eks-mmp-0", "--speed", templatesSpeed)
	u := &templateUpdates{World: w, version: map[string]int{ec2Pool: 1, eksPool: 1}}
	u.settled()
	for _, part := range []struct {
		name string
		run  func(u *templateUpdates)
	}{
		{"FirstVersionOnBothObjects", firstTemplateVersion},
		{"InstanceTypeReplacesEveryMachine", anotherInstanceType},
		{"UnrelatedEditCreatesNoVersion", sameTemplateVersion},
		{"HistoryLimitedAndDefaultInUse", templateHistory},
		{"NodeGroupUpgradedWithControlPlane", upgradesNodeGroup},
		{"NodeGroupScaledOutAndIn", scalesNodeGroup},
		{"KubectlDeleteLeavesNoNodeGroup", deletesNodeGroup},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(u.in(t)) }) {
			return
		}
	}
}

// templateUpdates is a world with both kinds of pools, and how many versions their templates have had.
type templateUpdates struct {
	*world.World
	version map[string]int
}

func (u *templateUpdates) in(t *testing.T) *templateUpdates {
	return &templateUpdates{World: u.In(t), version: u.version}
}

// edit patches the infrastructure object of a pool.
func (u *templateUpdates) edit(pool, patch string) {
	u.T.Helper()
	u.Kubectl("patch", pool, "--type=merge", "-p", patch)
}

// settled waits until both pools rest at their newest version with two machines each.
func (u *templateUpdates) settled() {
	u.T.Helper()
	for _, pool := range bothAWSPools {
		u.atRest(pool, 2)
	}
}

func (u *templateUpdates) atRest(pool string, replicas int) {
	u.T.Helper()
	const path = `{.status.replicas} {.status.readyReplicas} {.status.upToDateReplicas} {.status.state} {.status.conditions[?(@.type=="Ready")].status} {.status.launchTemplateVersion}`
	u.Eventually(fmt.Sprintf("%s to rest at version %d", pool, u.version[pool]), func() error {
		got := u.Read(path, pool)
		if want := fmt.Sprintf("%[1]d %[1]d %[1]d Running True %[2]d", replicas, u.version[pool]); got != want {
			return fmt.Errorf("want %s, it says %s; its conditions are\n%s", want, got, u.Read(conditionLines, pool))
		}
		return nil
	})
}

// conditionLines prints the conditions of an object.
const conditionLines = `{range .status.conditions[*]}  {.type}={.status} {.reason}: {.message}{"\n"}{end}`

// wantEvent waits for an event of a pool's infrastructure object.
func (u *templateUpdates) wantEvent(pool, reason, message string) {
	u.T.Helper()
	kind, name, _ := strings.Cut(pool, "/")
	kinds := map[string]string{"awsmachinepool": "AWSMachinePool", "awsmanagedmachinepool": "AWSManagedMachinePool"}
	u.Eventually(fmt.Sprintf("an event %s of %s that says %s", reason, pool, message), func() error {
		got := u.Read(`{range .items[*]}{.message}{"\n"}{end}`, "events", "--field-selector",
			"involvedObject.kind="+kinds[kind]+",involvedObject.name="+name+",reason="+reason)
		if !regexp.MustCompile(message).MatchString(got) {
			return fmt.Errorf("there are\n%s", got)
		}
		return nil
	})
}

// nodesOf returns the names of a cluster's nodes.
func (u *templateUpdates) nodesOf(cluster string) []string {
	u.T.Helper()
	return strings.Fields(u.ReadFrom(cluster, "{.items[*].metadata.name}", "nodes"))
}

// template returns the ID of a pool's launch template.
func (u *templateUpdates) template(pool string) string {
	u.T.Helper()
	return u.Read("{.status.launchTemplateID}", pool)
}

// templateVersion is one version of a launch template, as the account has it.
type templateVersion struct {
	number           int64
	content, display string
	isDefault        bool
}

// versions returns the versions of a pool's template, the oldest first.
func (u *templateUpdates) versions(pool string) []templateVersion {
	u.T.Helper()
	out, err := account.Of(u.World).EC2.DescribeLaunchTemplateVersions(u.T.Context(),
		&ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: aws.String(u.template(pool))})
	if err != nil {
		u.T.Fatal(err)
	}
	var all []templateVersion
	for _, v := range out.LaunchTemplateVersions {
		description := aws.ToString(v.VersionDescription)
		content := regexp.MustCompile(`content=(v1:[0-9a-f]{16})`).FindString(description)
		all = append(all, templateVersion{number: aws.ToInt64(v.VersionNumber), content: content, display: description,
			isDefault: aws.ToBool(v.DefaultVersion)})
	}
	slices.SortFunc(all, func(a, b templateVersion) int { return cmp.Compare(a.number, b.number) })
	return all
}

func firstTemplateVersion(u *templateUpdates) {
	for _, pool := range bothAWSPools {
		if got := u.versions(pool); len(got) != 1 || !strings.HasPrefix(got[0].display, "muster content=v1:") || !got[0].isDefault {
			u.T.Errorf("%s: want one version, which says what it is of, got %+v", pool, got)
		}
		u.wantEvent(pool, "TemplateCreated", `Created launch template lt-\w+`)
	}
	u.wantEvent(eksPool, "GroupCreated", "Created the node group")
	for _, label := range []string{"eks.amazonaws.com/nodegroup", "eks.amazonaws.com/sourceLaunchTemplateVersion=1",
		"example.com/pool=eks-mmp-0"} {
		if got := strings.Fields(u.Workload(eksCluster, "get", "nodes", "-l", label, "-o", "name")); len(got) != 2 {
			u.T.Errorf("want two nodes with the label %s, got %v", label, got)
		}
	}
}

// anotherInstanceType edits both templates at once. Pods with a budget are on the managed pool's nodes, where EKS drains.
func anotherInstanceType(u *templateUpdates) {
	u.ApplyTo(eksCluster, pairManifest)
	u.Workload(eksCluster, "wait", "deployment/pair", "--for=condition=Available", "--timeout", world.WaitLimit.String())
	seen := u.Watch(eksCluster)
	seen.ByCloud()
	seen.Begin()
	before := map[string][]string{ec2Cluster: u.nodesOf(ec2Cluster), eksCluster: u.nodesOf(eksCluster)}
	for _, pool := range bothAWSPools {
		u.edit(pool, `{"spec":{"awsLaunchTemplate":{"instanceType":"t3.xlarge","versionsToKeep":`+fmt.Sprint(versionsKept)+`}}}`)
		u.version[pool]++
	}
	// Each event is written by itself, and those that are not written yet when the controllers are killed are lost.
	for _, pool := range bothAWSPools {
		u.wantEvent(pool, "TemplateVersionCreated", `Created version 2 of launch template lt-\w+: .*instanceType t3\.large -> t3\.xlarge`)
	}
	u.wantEvent(eksPool, "ProviderRolloutStarted", `Started rollout of the node group to lt-\w+:2.*spec\.awsLaunchTemplate\.instanceType`)
	u.KillChild("controllers")
	u.Eventually("a node to be closed", func() error {
		if u.ReadFrom(eksCluster, "{.items[*].spec.unschedulable}", "nodes") == "" {
			return errors.New("none is")
		}
		return nil
	})
	u.KillChild("controllers")
	u.settled()
	for cluster, names := range before {
		u.Eventually("every node of "+cluster+" replaced", func() error {
			now := u.nodesOf(cluster)
			if len(now) != 2 || slices.ContainsFunc(now, func(n string) bool { return slices.Contains(names, n) }) {
				return fmt.Errorf("they were %v, and are %v", names, now)
			}
			return nil
		})
	}
	for _, pool := range bothAWSPools {
		u.wantEvent(pool, "RolloutCompleted", "2 of 2 machines were launched from the wanted launch template")
	}
	if got := u.ReadFrom(eksCluster, `{.items[*].metadata.labels.node\.kubernetes\.io/instance-type}`,
		"nodes"); got != "t3.xlarge t3.xlarge" {
		u.T.Errorf("want machines of the new type, got %s", got)
	}
	lowest, gone, evicted, err := seen.Saw()
	if err != nil {
		u.T.Errorf("what must not happen: %v", err)
	}
	if lowest < 1 {
		u.T.Errorf("want a node that serves at every moment, for EKS adds machines first; got %d: %s", lowest, seen.At())
	}
	u.T.Logf("gone %d, evicted %d pods; serving at least %d", len(gone), evicted, lowest)
}

// pairManifest is two pods, of which one may be away.
const pairManifest = `apiVersion: apps/v1
kind: Deployment
metadata: {name: pair, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: pair}}
  template:
    metadata: {labels: {app: pair}}
    spec:
      terminationGracePeriodSeconds: 1
      containers: [{name: pair, image: pair}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: pair, namespace: default}
spec: {minAvailable: 1, selector: {matchLabels: {app: pair}}}
`

// sameTemplateVersion changes the fields of groups and histories.
func sameTemplateVersion(u *templateUpdates) {
	before := map[string]int{}
	for _, pool := range bothAWSPools {
		before[pool] = len(u.versions(pool))
		u.edit(pool, `{"spec":{"awsLaunchTemplate":{"versionsToKeep":`+fmt.Sprint(versionsKept+1)+`}}}`)
	}
	u.edit(ec2Pool, `{"spec":{"maxSize":9}}`)
	u.edit(eksPool, `{"spec":{"scaling":{"maxSize":9},"labels":{"example.com/more":"yes"}}}`)
	u.Eventually("the label on both nodes", func() error {
		if got := u.Workload(eksCluster, "get", "nodes", "-l", "example.com/more=yes", "-o", "name"); len(strings.Fields(got)) != 2 {
			return fmt.Errorf("it is on %s", got)
		}
		return nil
	})
	u.settled()
	for _, pool := range bothAWSPools {
		if got := u.versions(pool); len(got) != before[pool] {
			u.T.Errorf("%s: want %d versions as before, got %+v", pool, before[pool], got)
		}
		u.edit(pool, `{"spec":{"awsLaunchTemplate":{"versionsToKeep":`+fmt.Sprint(versionsKept)+`}}}`)
	}
}

// templateHistory makes a version more than are kept.
func templateHistory(u *templateUpdates) {
	for _, pool := range bothAWSPools {
		u.edit(pool, `{"spec":{"awsLaunchTemplate":{"instanceType":"m5.large"}}}`)
		u.version[pool]++
	}
	u.settled()
	for _, pool := range bothAWSPools {
		u.Eventually(fmt.Sprintf("%s to keep %d versions, and launch from the default", pool, versionsKept), func() error {
			all := u.versions(pool)
			contents := map[string]bool{}
			for _, v := range all {
				contents[v.content] = true
				if v.isDefault != (v.number == int64(u.version[pool])) {
					return fmt.Errorf("%d is the one in use: %+v", u.version[pool], all)
				}
			}
			if len(contents) != versionsKept {
				return fmt.Errorf("there are %+v", all)
			}
			return nil
		})
		u.wantEvent(pool, "TemplatesPruned", `Deleted versions? [0-9, ]+ of launch template lt-\w+`)
	}
}

// upgradesNodeGroup asks the pool for a version that its control plane does not have yet, on which its user has to insist.
func upgradesNodeGroup(u *templateUpdates) {
	before := u.nodesOf(eksCluster)
	u.Kubectl("patch", "machinepool/eks-mmp-0", "--type=merge", "-p",
		`{"metadata":{"annotations":{"muster.dev/skip-version-skew":"true"}},"spec":{"template":{"spec":{"version":"v1.34.0"}}}}`)
	u.Eventually("the pool to have seen the version", func() error {
		const path = `{.status.version} {.status.state} {.status.conditions[?(@.type=="UpToDate")].status}`
		if got := u.Read(path, eksPool); !strings.HasPrefix(got, "v1.34.0 ") {
			return errors.New("it says " + got)
		}
		return nil
	})
	if got := u.nodesOf(eksCluster); !slices.Equal(got, before) {
		u.T.Errorf("want no machine replaced before the control plane is, got %v after %v", got, before)
	}
	u.Kubectl("patch", "awsmanagedcontrolplane/eks-control-plane", "--type=merge", "-p", `{"spec":{"version":"v1.34.0"}}`)
	u.Eventually("nodes of version 1.34", func() error {
		if got := u.ReadFrom(eksCluster, "{.items[*].status.nodeInfo.kubeletVersion}", "nodes"); got != "v1.34.10 v1.34.10" {
			return errors.New("they are of " + got)
		}
		return nil
	})
	u.atRest(eksPool, 2)
	u.wantEvent(eksPool, "ProviderRolloutStarted", "1.33 to 1.34")
}

// scalesNodeGroup adds a machine and takes one away, which Muster drains before EKS's group takes it.
func scalesNodeGroup(u *templateUpdates) {
	u.Kubectl("scale", "machinepool/eks-mmp-0", "--replicas=3")
	u.atRest(eksPool, 3)
	seen := u.Watch(eksCluster)
	seen.Begin()
	u.Kubectl("scale", "machinepool/eks-mmp-0", "--replicas=2")
	u.atRest(eksPool, 2)
	u.Eventually("one node to be gone", func() error {
		if _, gone, _, _ := seen.Saw(); len(gone) != 1 {
			return fmt.Errorf("gone are %v", gone)
		}
		return nil
	})
	if _, _, _, err := seen.Saw(); err != nil {
		u.T.Errorf("what must not happen: %v", err)
	}
	u.wantEvent(eksPool, "DrainStarted", "Started draining i-")
}

func deletesNodeGroup(u *templateUpdates) {
	template := u.template(eksPool)
	// The budget would keep the last machine, as it should.
	u.Workload(eksCluster, "delete", "deployment/pair", "poddisruptionbudget/pair")
	u.Kubectl("delete", "machinepool/eks-mmp-0", "--timeout", world.WaitLimit.String())
	u.wantEvent(eksPool, "GroupDeleted", "Started deletion of the node group: the pool is being deleted")
	u.Eventually("nothing to be left of it", func() error {
		h := account.Of(u.World).Holds()
		for _, name := range slices.Concat(h.Groups, h.Templates) {
			if strings.Contains(name, "eks") {
				return errors.New("left: " + name)
			}
		}
		if names := u.nodesOf(eksCluster); len(names) > 0 {
			return fmt.Errorf("nodes are left: %v", names)
		}
		return nil
	})
	out, err := account.Of(u.World).EC2.DescribeLaunchTemplates(u.T.Context(), nil)
	if err != nil {
		u.T.Fatal(err)
	}
	for _, l := range out.LaunchTemplates {
		if aws.ToString(l.LaunchTemplateId) == template {
			u.T.Errorf("want the launch template gone, got %s", template)
		}
	}
	u.Kubectl("delete", "cluster/eks", "--timeout", world.WaitLimit.String())
	if got := u.Kubectl("get", "awsmanagedcontrolplane,awsmanagedcluster", "-o", "name"); got != "" {
		u.T.Errorf("want nothing of the cluster left, got\n%s", got)
	}
}
