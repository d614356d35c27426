package aws_test

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/pool"
)

// policy names the types that a group launches.
func policy(types ...string) func(*awsv1.AWSMachinePoolSpec) {
	return func(s *awsv1.AWSMachinePoolSpec) {
		s.MixedInstancesPolicy = &awsv1.MixedInstancesPolicy{}
		for _, name := range types {
			s.MixedInstancesPolicy.Overrides = append(s.MixedInstancesPolicy.Overrides, awsv1.Overrides{InstanceType: name})
		}
	}
}

// TestTypesOfAPolicy decide what instances of the group are, and the type of the template does not.
func TestTypesOfAPolicy(t *testing.T) {
	for _, c := range []struct {
		why   string
		edit  func(*awsv1.AWSMachinePoolSpec)
		same  bool
		field string
	}{
		{"another type of the template makes the same instances", bigger, true, ""},
		{"another field of it makes others", func(s *awsv1.AWSMachinePoolSpec) {
			s.AWSLaunchTemplate.RootVolume = &awsv1.Volume{Size: 50, Type: "gp3"}
		}, false, "spec.awsLaunchTemplate.rootVolume"},
		{"another type in the policy keeps those of its other types", policy("m5.xlarge", "t3.large"), true, ""},
		{"an instance of a type that the policy lost is another", policy("m5.xlarge"), false, "spec.mixedInstancesPolicy"},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			target, _ := w.create(with(aTarget(), policy("t3.large")), 2)
			target = with(target, c.edit)
			o := w.observe(target)
			if !o.Latest().Same(o.Wanted) {
				w.start(target, pool.Step{Kind: pool.PutTemplate, Base: o.Latest().Ref})
				o = w.observe(target)
			}
			if fields := o.Group.Drift; len(fields) > 0 || o.Group.Template != o.Latest().Ref {
				w.start(target, pool.Step{Kind: pool.UpdateGroup, Template: o.Latest().Ref, Fields: fields})
				o = w.observe(target)
			}
			for _, i := range o.Instances {
				fields := ""
				if len(i.TemplateDiff) > 0 {
					fields = i.TemplateDiff[0]
				}
				if i.Template.Same(o.Wanted) != c.same || fields != c.field {
					t.Errorf("%s: want what is wanted %t, other in %q, got %+v for %+v", c.why, c.same, c.field, i, o.Wanted)
				}
			}
		})
	}
}

// Beside a template that is brought too: a version that differs in its type alone launches the same instances.
func TestTypesOfAPolicyAndATemplateThatIsBrought(t *testing.T) {
	type data = ec2types.RequestLaunchTemplateData
	bigger := func(d *data) { d.InstanceType = "m5.large" }
	for _, c := range []struct {
		why   string
		edit  func(*data)
		types []string
		// deleted is true if the version that the instances were launched from is deleted.
		deleted, same bool
		// reads are the numbers of reads of versions: those that the specification names, and those that instances were launched from.
		reads int
	}{
		{why: "another type", edit: bigger, types: []string{"t3.large"}, same: true, reads: 2},
		{why: "another type, which the template decides", edit: bigger, reads: 1},
		{why: "other user data", edit: func(d *data) { d.UserData = ptr("aW5pdA==") }, types: []string{"t3.large"}, reads: 2},
		{why: "other tags", edit: func(d *data) {
			d.TagSpecifications = []ec2types.LaunchTemplateTagSpecificationRequest{{
				ResourceType: ec2types.ResourceTypeInstance, Tags: []ec2types.Tag{{Key: ptr("a"), Value: ptr("b")}},
			}}
		}, types: []string{"t3.large"}, reads: 2},
		{why: "a version that was deleted", edit: bigger, types: []string{"t3.large"}, deleted: true, reads: 2},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			id := w.bring("golden", c.edit)
			version := func(n int64) aws.Target {
				target := brought(awsv1.ExistingLaunchTemplate{ID: &id, Version: n})
				if len(c.types) > 0 {
					target = with(target, policy(c.types...))
				}
				return target
			}
			w.reconcile(version(1), 4)
			w.start(version(1), pool.Step{Kind: pool.Resize, Size: 1})
			settle()
			if c.deleted {
				w.deleteFirstVersion(id)
			}
			w.driver = w.newDriver()
			before, o := w.calls("DescribeLaunchTemplateVersions"), pool.Observed{}
			for range 3 {
				o = w.observe(version(2))
			}
			if reads := w.calls("DescribeLaunchTemplateVersions") - before; reads != c.reads {
				t.Errorf("%s: want versions read %d times, got %d", c.why, c.reads, reads)
			}
			field := []string{"spec.awsLaunchTemplate.existing"}
			if c.same {
				field = nil
			}
			if i := o.Instances[0]; i.Template.Same(o.Wanted) != c.same || !slices.Equal(i.TemplateDiff, field) {
				t.Errorf("%s: want what is wanted %t, other in %q, got %+v for %+v", c.why, c.same, field, i, o.Wanted)
			}
		})
	}
}

// deleteFirstVersion deletes a template's first version, once the second is the default.
func (w *world) deleteFirstVersion(id string) {
	w.t.Helper()
	if _, err := w.ec2.ModifyLaunchTemplate(w.t.Context(), &ec2.ModifyLaunchTemplateInput{
		LaunchTemplateId: &id, DefaultVersion: ptr("2"),
	}); err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.ec2.DeleteLaunchTemplateVersions(w.t.Context(), &ec2.DeleteLaunchTemplateVersionsInput{
		LaunchTemplateId: &id, Versions: []string{"1"},
	}); err != nil {
		w.t.Fatal(err)
	}
}
