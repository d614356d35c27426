package nodegroup_test

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws/nodegroup"
	"github.com/muster-project/muster/pool"
	simaws "github.com/muster-project/muster/sim/aws"
)

const (
	// theirGroup and theirTemplate are the names that the ecosystem's provider gives.
	theirGroup, theirTemplate = "default_pool", "cp-pool"
	theirData                 = "#cloud-config\nruncmd: [\"kubeadm join\"]\n"
)

// theirs makes a node group of two as the ecosystem's provider makes it, with a launch template if an image is named, and returns its ARN.
func (w *world) theirs(cluster, image string) string {
	w.t.Helper()
	var subnets []string
	for _, s := range network(version).Subnets {
		if !s.IsPublic {
			subnets = append(subnets, s.ID)
		}
	}
	role := "arn:aws:iam::" + simaws.AccountID + ":role/" + simaws.NodegroupRole
	input := &eks.CreateNodegroupInput{
		ClusterName: ptr(clusterName), NodegroupName: ptr(theirGroup), NodeRole: &role, Subnets: subnets,
		ScalingConfig: &ekstypes.NodegroupScalingConfig{MinSize: ptr(int32(1)), MaxSize: ptr(int32(300)), DesiredSize: ptr(int32(2))},
		Tags:          map[string]string{"kubernetes.io/cluster/" + cluster: "owned", "team": "a"},
	}
	if image != "" {
		input.AmiType = ekstypes.AMITypesCustom
		input.LaunchTemplate = &ekstypes.LaunchTemplateSpecification{Id: ptr(w.theirTemplate(cluster, image)), Version: ptr("1")}
	}
	made, err := w.eks.CreateNodegroup(w.t.Context(), input)
	if err != nil {
		w.t.Fatal(err)
	}
	time.Sleep(time.Hour)
	synctest.Wait()
	return *made.Nodegroup.NodegroupArn
}

func (w *world) theirTemplate(cluster, image string) string {
	w.t.Helper()
	settings := config(simaws.Region)
	settings.HTTPClient = &http.Client{Transport: w.over}
	tags := []ec2types.Tag{
		{Key: ptr("sigs.k8s.io/cluster-api-provider-aws/cluster/" + cluster), Value: ptr("owned")}, {Key: ptr("Name"), Value: ptr(theirTemplate)},
	}
	made, err := ec2.NewFromConfig(settings).CreateLaunchTemplate(w.t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: ptr(theirTemplate),
		LaunchTemplateData: &ec2types.RequestLaunchTemplateData{
			InstanceType: ec2types.InstanceType(simaws.InstanceType), ImageId: &image, KeyName: ptr(simaws.KeyName),
			SecurityGroupIds: network(version).NodeSecurityGroups, UserData: ptr(base64.StdEncoding.EncodeToString([]byte(theirData))),
			TagSpecifications: []ec2types.LaunchTemplateTagSpecificationRequest{{ResourceType: ec2types.ResourceTypeInstance, Tags: tags}},
		},
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeLaunchTemplate, Tags: tags}},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return *made.LaunchTemplate.LaunchTemplateId
}

func ptr[T any](v T) *T { return &v }

// withOwnImage is the specification of a node group whose template names its image and, as the provider's does, the security group of
// nodes.
func withOwnImage() source {
	return spec(func(s *awsv1.AWSManagedMachinePoolSpec) {
		s.AMIType = ptr(awsv1.AMITypeCustom)
		s.AWSLaunchTemplate.AdditionalSecurityGroups = []awsv1.AWSResourceReference{{ID: ptr(network(version).NodeSecurityGroups[0])}}
	})(withTemplate())
}

// plain is the specification of a node group without a template of its own.
func plain() source {
	return spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AWSLaunchTemplate = nil })(withTemplate())
}

// adopting is the object of a pool that another tool has managed, with the annotation.
func adopting(s source, arn string) nodegroup.Target {
	target := aTarget(spec(func(s *awsv1.AWSManagedMachinePoolSpec) {
		s.EKSNodegroupName, s.Scaling.MinSize = theirGroup, ptr(int32(1))
	})(s))
	target.Bootstrap = cloud.NewBootstrap([]byte(theirData), "cloud-config")
	target.Owner.GroupName, target.GroupID, target.Adopt = theirGroup, arn, true
	return target
}

// image is the one that the specification leads to.
func (w *world) image(s source) string {
	target := aTarget(s)
	target.Bootstrap = cloud.NewBootstrap([]byte(theirData), "cloud-config")
	for _, found := range w.observe(target).ResolvedLookups {
		if id, _, _ := strings.Cut(found, " "); strings.HasPrefix(id, "ami-") {
			return id
		}
	}
	w.t.Fatal("want an image remembered")
	return ""
}

func (w *world) passes(target nodegroup.Target, d pool.Desired) (kinds []pool.StepKind, last pool.Plan, seen pool.Observed) {
	w.t.Helper()
	for range 12 {
		o := w.observe(target)
		target.Remembered = o.ResolvedLookups
		for k := range o.Instances {
			o.Instances[k].Node = &pool.Node{Name: o.Instances[k].ID, Ready: true, Joined: o.Instances[k].Created,
				ReadySince: o.Instances[k].Created}
		}
		d.Adopt.Done = d.Adopt.Done || o.Group != nil
		last, seen = pool.Decide(d, o, w.driver.Traits(), time.Now()), o
		if last.Step == nil {
			return kinds, last, seen
		}
		kinds = append(kinds, last.Step.Kind)
		w.start(target, *last.Step)
		time.Sleep(20 * time.Minute)
		synctest.Wait()
	}
	w.t.Fatalf("want the pool at rest, got %v", kinds)
	return nil, pool.Plan{}, pool.Observed{}
}

func adoption() pool.Desired {
	return pool.Desired{Replicas: 2, Min: 1, Max: 300, MinField: "spec.scaling.minSize", MaxField: "spec.scaling.maxSize",
		Adopt: pool.Adoption{Name: theirGroup}}
}

// TestAdoption takes over node groups as the ecosystem's provider makes them. EKS rolls nothing.
func TestAdoption(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		why  string
		spec func() source
	}{
		"without a template": {"EKS's own template is EKS's", plain},
		"with its own image": {"the template in use becomes the pool's, under its own name", withOwnImage},
		"with a named template": {"the name in the specification is one that the provider ignores", func() source {
			return spec(func(s *awsv1.AWSManagedMachinePoolSpec) { s.AWSLaunchTemplate.Name = "named" })(withOwnImage())
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
				s, image := tc.spec(), ""
				if s.Pool.AWSLaunchTemplate != nil {
					image = w.image(s)
				}
				target := adopting(s, w.theirs("c", image))
				preview := target
				preview.AssumeOwned = true
				before := w.observe(preview)
				kinds, last, seen := w.passes(target, adoption())
				if len(kinds) == 0 || kinds[0] != pool.Adopt || slices.Contains(kinds, pool.StartProviderRollout) ||
					slices.Contains(kinds, pool.PutTemplate) || last.Refused != nil {
					t.Errorf("%s: want it adopted and nothing rolled, got %v, %+v", tc.why, kinds, last.Refused)
				}
				if len(seen.Instances) != 2 || last.Rollout.Left != 0 {
					t.Errorf("%s: want two instances that are up to date, got %+v: %+v beside %+v", tc.why, last.Rollout, seen.Instances, seen.Wanted)
				}
				for k, i := range seen.Instances {
					if k >= len(before.Instances) || before.Instances[k].ID != i.ID {
						t.Errorf("%s: want no instance replaced, got %s in the place of %+v", tc.why, i.ID, before.Instances)
					}
				}
				if again, _, _ := w.passes(target, adoption()); slices.Contains(again, pool.Adopt) {
					t.Errorf("%s: want it adopted once, got %v", tc.why, again)
				}
			})
		})
	}
}

// TestAdoptionRefused leaves alone what is not to be adopted.
func TestAdoptionRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		why     string
		cluster string
		asked   string
		want    string
	}{
		"without the annotation": {"the message names the way", "c", "", "set the annotation muster.dev/adopt: " + theirGroup},
		"another name":           {"a slip takes nothing", "c", "pool", `names "pool", and the group found is node group ` + theirGroup},
		"another cluster":        {"it is in use elsewhere", "other", theirGroup, `belongs to cluster "other"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, version, func(*nodegroup.Options) {}, func(t *testing.T, w *world) {
				target := adopting(plain(), w.theirs(tc.cluster, ""))
				d := adoption()
				d.Adopt.Name, target.Adopt = tc.asked, tc.asked != ""
				if kinds, last, _ := w.passes(target, d); len(kinds) > 0 || last.Refused == nil || !strings.Contains(last.Refused.Message, tc.want) {
					t.Errorf("%s: want it refused with %q, got %v and %+v", tc.why, tc.want, kinds, last.Refused)
				}
			})
		})
	}
}
