package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	autoscalingtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	simaws "github.com/muster-project/muster/sim/aws"

	"github.com/muster-project/muster/test/e2e/account"
	"github.com/muster-project/muster/test/e2e/world"
	"github.com/muster-project/muster/test/testrun"
)

// Names of the pools that another provider has made: cluster-api-provider-aws names a group and its launch template after the pool, and a
// node group after namespace and pool.
const (
	theirAWSPool, theirEKSPool = "theirs", "theirs-eks"
	theirNodeGroup             = "default_" + theirEKSPool
	awsOwnerTag                = "muster.dev/owner"
)

// TestLongAdoption takes over groups of the existing provider. Then the pool of one of them is restored from a backup, and sized as the
// cluster-autoscaler does.
func TestLongAdoption(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	w := world.Start(t, t.TempDir(), "--pools", "capa-mp-0,eks-mmp-0", "--speed", templatesSpeed)
	u := &templateUpdates{World: w, version: map[string]int{ec2Pool: 1, eksPool: 1}}
	u.settled()
	for _, part := range []struct {
		name string
		run  func(*world.World)
	}{
		{"GroupAdoptedReleasedAndReadopted", adoptsAWSGroup},
		{"RestoredObjectsKeepMachines", restored},
		{"NodeGroupAdopted", adoptsNodeGroup},
		{"AutoscalerContract", autoscaled},
	} {
		if !t.Run(part.name, func(t *testing.T) { part.run(w.In(t)) }) {
			return
		}
	}
}

// theirAWSTags returns the tags that cluster-api-provider-aws writes to what it makes for a cluster.
func theirAWSTags(cluster, name string) map[string]string {
	return map[string]string{
		"Name": name, "sigs.k8s.io/cluster-api-provider-aws/cluster/" + cluster: "owned", "sigs.k8s.io/cluster-api-provider-aws/role": "node",
		"kubernetes.io/cluster/" + cluster: "owned",
	}
}

// makeTheirAWSGroup makes launch template and group of a pool as cluster-api-provider-aws does, with the bootstrap data of a pool that
// there is, and returns the group's ARN.
func makeTheirAWSGroup(w *world.World) string {
	w.T.Helper()
	cloud, ctx := account.Of(w), w.T.Context()
	var tags []ec2types.Tag
	var groupTags []autoscalingtypes.Tag
	for key, value := range theirAWSTags(ec2Cluster, theirAWSPool) {
		tags = append(tags, ec2types.Tag{Key: &key, Value: &value})
		groupTags = append(groupTags, autoscalingtypes.Tag{Key: &key, Value: &value, PropagateAtLaunch: aws.Bool(false),
			ResourceId: aws.String(theirAWSPool), ResourceType: aws.String("auto-scaling-group")})
	}
	data := theirTemplateData(w, w.Read("{.status.launchTemplateID}", ec2Pool))
	data.UserData = aws.String(w.Read("{.data.value}", "secret/capa-mp-0"))
	data.TagSpecifications = []ec2types.LaunchTemplateTagSpecificationRequest{{ResourceType: ec2types.ResourceTypeInstance, Tags: tags},
		{ResourceType: ec2types.ResourceTypeVolume, Tags: tags}}
	template, err := cloud.EC2.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String(theirAWSPool),
		LaunchTemplateData: data,
		TagSpecifications:  []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: tags}}})
	if err != nil {
		w.T.Fatal(err)
	}
	if _, err = cloud.Scaling.CreateAutoScalingGroup(ctx, &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: aws.String(theirAWSPool), MinSize: aws.Int32(1), MaxSize: aws.Int32(3), DesiredCapacity: aws.Int32(2),
		VPCZoneIdentifier: aws.String(simaws.SubnetID),
		DefaultCooldown:   aws.Int32(300), CapacityRebalance: aws.Bool(false), Tags: groupTags,
		LaunchTemplate: &autoscalingtypes.LaunchTemplateSpecification{LaunchTemplateId: template.LaunchTemplate.LaunchTemplateId,
			Version: aws.String("$Latest")},
	}); err != nil {
		w.T.Fatal(err)
	}
	return aws.ToString(theirAWSGroup(w).AutoScalingGroupARN)
}

// theirTemplateData returns what cluster-api-provider-aws sends of the launch template of a pool of type t3.large.
func theirTemplateData(w *world.World, id string) *ec2types.RequestLaunchTemplateData {
	w.T.Helper()
	out, err := account.Of(w).EC2.DescribeLaunchTemplateVersions(w.T.Context(),
		&ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: []string{"$Latest"}})
	if err != nil || len(out.LaunchTemplateVersions) != 1 {
		w.T.Fatalf("want the launch template %s, got %v", id, err)
	}
	is := out.LaunchTemplateVersions[0].LaunchTemplateData
	data := &ec2types.RequestLaunchTemplateData{InstanceType: ec2types.InstanceType(simaws.InstanceType), ImageId: is.ImageId,
		KeyName: is.KeyName, SecurityGroupIds: is.SecurityGroupIds}
	if is.IamInstanceProfile != nil {
		data.IamInstanceProfile = &ec2types.LaunchTemplateIamInstanceProfileSpecificationRequest{Arn: is.IamInstanceProfile.Arn,
			Name: is.IamInstanceProfile.Name}
	}
	return data
}

// theirAWSGroup returns the other provider's group as the account shows it.
func theirAWSGroup(w *world.World) autoscalingtypes.AutoScalingGroup {
	w.T.Helper()
	out, err := account.Of(w).Scaling.DescribeAutoScalingGroups(w.T.Context(),
		&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{theirAWSPool}})
	if err != nil || len(out.AutoScalingGroups) != 1 {
		w.T.Fatalf("want the group %s, got %v", theirAWSPool, err)
	}
	return out.AutoScalingGroups[0]
}

func awsTagOf(g autoscalingtypes.AutoScalingGroup, key string) string {
	for _, tag := range g.Tags {
		if aws.ToString(tag.Key) == key {
			return aws.ToString(tag.Value)
		}
	}
	return ""
}

func awsTagNames(g autoscalingtypes.AutoScalingGroup) []string {
	var names []string
	for _, tag := range g.Tags {
		names = append(names, aws.ToString(tag.Key))
	}
	return names
}

// twoMoreNodes waits until a cluster has two Ready nodes more than those, and returns the UIDs of these two.
func twoMoreNodes(w *world.World, cluster string, before []string) []string {
	w.T.Helper()
	var uids []string
	w.Eventually("two more Ready nodes in cluster "+cluster, func() error {
		uids = nil
		const path = `{range .items[*]}{.metadata.uid} {.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}`
		for line := range strings.Lines(w.ReadFrom(cluster, path, "nodes")) {
			if uid, ready, _ := strings.Cut(strings.TrimSpace(line), " "); ready == "True" && !slices.Contains(before, uid) {
				uids = append(uids, uid)
			}
		}
		if len(uids) != 2 {
			return fmt.Errorf("they are %v", uids)
		}
		slices.Sort(uids)
		return nil
	})
	return uids
}

func nodeUIDs(w *world.World, cluster string) []string {
	w.T.Helper()
	return strings.Fields(w.ReadFrom(cluster, "{.items[*].metadata.uid}", "nodes"))
}

// conflictOnAWS waits until a pool reports that its group is not its own, and names the annotation that adopts it.
func conflictOnAWS(w *world.World, object, group string) {
	w.T.Helper()
	const path = `{.status.conditions[?(@.type=="GroupReady")].reason}: {.status.conditions[?(@.type=="GroupReady")].message}`
	w.Eventually("the conflict to name the annotation", func() error {
		got := w.Read(path, object)
		if !strings.HasPrefix(got, "OwnershipConflict: ") || !strings.Contains(got, "muster.dev/adopt: "+group) {
			return errors.New("it says " + got)
		}
		return nil
	})
}

// adoptedOnAWS waits until an adopted pool has two Ready machines that are up to date, and holds that these are the ones that there were.
func adoptedOnAWS(w *world.World, object, cluster string, before, others []string) {
	w.T.Helper()
	const path = `{.status.replicas} {.status.readyReplicas} {.status.upToDateReplicas} {.status.conditions[?(@.type=="Ready")].status} {.status.conditions[?(@.type=="GroupReady")].status}`
	w.Eventually(object+" to be adopted", func() error {
		if got := w.Read(path, object); got != "2 2 2 True True" {
			return fmt.Errorf("it says %s; its conditions are\n%s", got, w.Read(conditionLines, object))
		}
		return nil
	})
	if now := twoMoreNodes(w, cluster, others); !slices.Equal(now, before) {
		w.T.Errorf("want no machine of %s replaced: nodes were %v, are %v", object, before, now)
	}
}

// adoptsAWSGroup follows docs/migrating.md for an AWSMachinePool: there, back, and there again.
func adoptsAWSGroup(w *world.World) {
	others := nodeUIDs(w, ec2Cluster)
	arn := makeTheirAWSGroup(w)
	before := twoMoreNodes(w, ec2Cluster, others)
	manifest := strings.NewReplacer("replicas: 1", "replicas: 2", "subnets:",
		"providerID: "+arn+"\n  subnets:").Replace(account.PoolOf(theirAWSPool))
	w.Apply(manifest)
	object := "awsmachinepool/" + theirAWSPool
	conflictOnAWS(w, object, theirAWSPool)
	if owner := awsTagOf(theirAWSGroup(w), awsOwnerTag); owner != "" {
		w.T.Fatalf("want nothing written without the annotation, got the owner %s", owner)
	}
	w.Adopt(theirAWSPool, theirAWSPool)
	adoptedOnAWS(w, object, ec2Cluster, before, others)
	if g := theirAWSGroup(w); awsTagOf(g, awsOwnerTag) == "" || len(g.Instances) != 2 {
		w.T.Errorf("want the owner tag on the group, and its two instances, got %v with %d", awsTagNames(g), len(g.Instances))
	}
	givesAWSGroupBack(w, object)
	conflictOnAWS(w, object, theirAWSPool)
	if now := twoMoreNodes(w, ec2Cluster, others); !slices.Equal(now, before) {
		w.T.Errorf("want no machine replaced on the way back: nodes were %v, are %v", before, now)
	}
	w.Adopt(theirAWSPool, theirAWSPool)
	w.Eventually("the owner tag on the group again", func() error {
		if g := theirAWSGroup(w); awsTagOf(g, awsOwnerTag) == "" {
			return fmt.Errorf("its tags are %v", awsTagNames(g))
		}
		return nil
	})
	adoptedOnAWS(w, object, ec2Cluster, before, others)
}

// givesAWSGroupBack is "Give a group back" of docs/migrating.md: with the cluster paused, hook, owner tags and annotations are removed.
func givesAWSGroupBack(w *world.World, object string) {
	w.T.Helper()
	cloud, ctx := account.Of(w), w.T.Context()
	w.Kubectl("patch", "cluster/"+ec2Cluster, "--type=merge", "-p", `{"spec":{"paused":true}}`)
	w.Wait(object, `{.status.conditions[?(@.type=="Paused")].status}`, "True")
	template := w.Read("{.status.launchTemplateID}", object)
	if _, err := cloud.Scaling.DeleteLifecycleHook(ctx, &autoscaling.DeleteLifecycleHookInput{AutoScalingGroupName: aws.String(theirAWSPool),
		LifecycleHookName: aws.String("muster-drain")}); err != nil {
		w.T.Fatal(err)
	}
	if _, err := cloud.Scaling.DeleteTags(ctx, &autoscaling.DeleteTagsInput{Tags: []autoscalingtypes.Tag{
		{ResourceId: aws.String(theirAWSPool), ResourceType: aws.String("auto-scaling-group"), Key: aws.String(awsOwnerTag)}}}); err != nil {
		w.T.Fatal(err)
	}
	if _, err := cloud.EC2.DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: []string{template},
		Tags: []ec2types.Tag{{Key: aws.String(awsOwnerTag)}}}); err != nil {
		w.T.Fatal(err)
	}
	w.Kubectl("annotate", object, "machinepool/"+theirAWSPool, "muster.dev/adopt-", "muster.dev/resolved-", "muster.dev/owner-id-")
	w.Kubectl("patch", "cluster/"+ec2Cluster, "--type=merge", "-p", `{"spec":{"paused":false}}`)
}

// theirNodeGroupManifest is a pool on a node group that cluster-api-provider-aws has made without a launch template.
const theirNodeGroupManifest = `apiVersion: cluster.x-k8s.io/v1beta2
kind: MachinePool
metadata: {name: NAME}
spec:
  clusterName: eks
  replicas: 2
  template:
    spec:
      bootstrap: {dataSecretName: ""}
      clusterName: eks
      infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: AWSManagedMachinePool, name: NAME}
      version: VERSION
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
kind: AWSManagedMachinePool
metadata: {name: NAME}
spec:
  eksNodegroupName: GROUP
  providerID: ARN
  scaling: {minSize: 1, maxSize: 3}
`

// makeTheirNodeGroup creates a node group as cluster-api-provider-aws does for another pool, and returns its ARN.
func makeTheirNodeGroup(w *world.World) string {
	w.T.Helper()
	cloud, ctx := account.Of(w), w.T.Context()
	clusters, err := cloud.EKS.ListClusters(ctx, &eks.ListClustersInput{})
	if err != nil || len(clusters.Clusters) != 1 {
		w.T.Fatalf("want one cluster of EKS, got %v", err)
	}
	cluster := &clusters.Clusters[0]
	groups, err := cloud.EKS.ListNodegroups(ctx, &eks.ListNodegroupsInput{ClusterName: cluster})
	if err != nil || len(groups.Nodegroups) != 1 {
		w.T.Fatalf("want one node group, got %v", err)
	}
	like, err := cloud.EKS.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: cluster, NodegroupName: &groups.Nodegroups[0]})
	if err != nil {
		w.T.Fatal(err)
	}
	made, err := cloud.EKS.CreateNodegroup(ctx, &eks.CreateNodegroupInput{
		ClusterName: cluster, NodegroupName: aws.String(theirNodeGroup), NodeRole: like.Nodegroup.NodeRole, Subnets: like.Nodegroup.Subnets,
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: aws.Int32(1), MaxSize: aws.Int32(3), DesiredSize: aws.Int32(2)},
		Tags:          theirAWSTags(eksCluster, theirNodeGroup),
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return aws.ToString(made.Nodegroup.NodegroupArn)
}

// adoptsNodeGroup follows docs/migrating.md for an AWSManagedMachinePool, and deletes the pool with the group that is its own then.
func adoptsNodeGroup(w *world.World) {
	others := nodeUIDs(w, eksCluster)
	arn := makeTheirNodeGroup(w)
	before := twoMoreNodes(w, eksCluster, others)
	version := w.Read("{.spec.template.spec.version}", "machinepool/eks-mmp-0")
	w.Apply(strings.NewReplacer("NAME", theirEKSPool, "GROUP", theirNodeGroup, "ARN", arn, "VERSION", version).Replace(theirNodeGroupManifest))
	object := "awsmanagedmachinepool/" + theirEKSPool
	conflictOnAWS(w, object, theirNodeGroup)
	w.Adopt(theirEKSPool, theirNodeGroup)
	adoptedOnAWS(w, object, eksCluster, before, others)
	w.Kubectl("delete", "machinepool/"+theirEKSPool, "--timeout", world.WaitLimit.String())
	w.Eventually("the nodes of the adopted pool to be gone, and no others", func() error {
		if now := nodeUIDs(w, eksCluster); !slices.Equal(now, others) {
			return fmt.Errorf("want %v, they are %v", others, now)
		}
		return nil
	})
}
