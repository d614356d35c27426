package aws_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/pool"
	simaws "github.com/muster-project/muster/sim/aws"
)

// bring makes a launch template by hand, with two versions, and gives its ID. The edits are those of the second.
func (w *world) bring(name string, edits ...func(*ec2types.RequestLaunchTemplateData)) string {
	w.t.Helper()
	input := foreignTemplate(name, w.anImage())
	made, err := w.ec2.CreateLaunchTemplate(w.t.Context(), input)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, edit := range edits {
		edit(input.LaunchTemplateData)
	}
	_, err = w.ec2.CreateLaunchTemplateVersion(w.t.Context(), &ec2.CreateLaunchTemplateVersionInput{
		LaunchTemplateName: &name, LaunchTemplateData: input.LaunchTemplateData, VersionDescription: ptr("by hand"),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return *made.LaunchTemplate.LaunchTemplateId
}

// anImage is one that the pool of aTarget finds.
func (w *world) anImage() string {
	for _, answer := range w.observe(aTarget()).ResolvedLookups {
		if id, _, _ := strings.Cut(answer, " "); strings.HasPrefix(id, "ami-") {
			return id
		}
	}
	w.t.Fatal("want an image remembered")
	return ""
}

// brought is the small pool with a template that another owner keeps.
func brought(existing awsv1.ExistingLaunchTemplate) aws.Target {
	target := with(aTarget(), func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate = awsv1.AWSLaunchTemplate{Existing: &existing} })
	target.Bootstrap = cloud.Bootstrap{}
	return target
}

func TestATemplateThatIsBrought(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		id := w.bring("golden")
		by := map[string]awsv1.ExistingLaunchTemplate{"by its ID": {ID: &id, Version: 1}, "by its name": {Name: ptr("golden"), Version: 1}}
		for reason, existing := range by {
			seen := w.observe(brought(existing))
			if want := id + ":1"; !seen.Wanted.UserManaged || seen.Wanted.Ref != want || len(seen.Versions) != 1 || seen.Versions[0] != seen.Wanted {
				t.Errorf("%s: want version %s as it is, got %+v of %+v", reason, want, seen.Wanted, seen.Versions)
			}
		}
		target, seen := w.reconcile(brought(by["by its name"]), 4)
		if seen.Group == nil || seen.Group.Template != id+":1" {
			t.Fatalf("want a group that launches from it, got %+v, %v", seen.Group, seen.Issues)
		}
		time.Sleep(time.Hour)
		w.start(target, pool.Step{Kind: pool.Resize, Size: 1})
		settle()
		later := brought(awsv1.ExistingLaunchTemplate{Name: ptr("golden"), Version: 2})
		seen = w.observe(later)
		i := seen.Instances[0]
		if i.Template.Content == "" || i.Template.Same(seen.Wanted) || !i.Template.UserManaged || len(seen.Versions) != 2 {
			t.Errorf("want another version to make the instance stale, and both to be known, got %+v of %+v", i.Template, seen.Versions)
		}
		if len(i.TemplateDiff) != 1 || i.TemplateDiff[0] != "spec.awsLaunchTemplate.existing" {
			t.Errorf("want the field that tells them apart, got %v", i.TemplateDiff)
		}
		for _, step := range []pool.Step{{Kind: pool.PruneTemplates, Refs: []string{id + ":1"}}, {Kind: pool.DeleteTemplates}} {
			w.start(later, step)
		}
		for _, step := range []pool.Step{{Kind: pool.PutTemplate}, {Kind: pool.DefaultTemplate, Template: id + ":2"}} {
			if err := w.driver.Start(t.Context(), later, step); err == nil {
				t.Errorf("want no %s of a template of another owner", step.Kind)
			}
		}
		left, err := w.ec2.DescribeLaunchTemplateVersions(t.Context(), &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id})
		if err != nil || len(left.LaunchTemplateVersions) != 2 || !*left.LaunchTemplateVersions[1].DefaultVersion {
			t.Errorf("want both versions left as they were, got %+v, %v", left, err)
		}
	})
}

func TestATemplateThatIsBroughtAndNotThere(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		id := w.bring("golden")
		for _, c := range []struct {
			reason, field string
			existing      awsv1.ExistingLaunchTemplate
		}{
			{"no such ID", "spec.awsLaunchTemplate.existing.id", awsv1.ExistingLaunchTemplate{ID: ptr("lt-0123456789abcdef0"), Version: 1}},
			{"no such name", "spec.awsLaunchTemplate.existing.name", awsv1.ExistingLaunchTemplate{Name: ptr("silver"), Version: 1}},
			{"no such version", "spec.awsLaunchTemplate.existing.version", awsv1.ExistingLaunchTemplate{ID: &id, Version: 3}},
		} {
			_, err := w.driver.Observe(t.Context(), brought(c.existing))
			var unmet *cloud.SpecUnsatisfiableError
			var refused *cloud.Error
			if !errors.As(err, &unmet) || !errors.As(err, &refused) || refused.Field != c.field ||
				!strings.Contains(refused.Message, simaws.Region) {
				t.Errorf("%s: want the field %s named, got %v", c.reason, c.field, err)
			}
		}
		target, _ := w.reconcile(brought(awsv1.ExistingLaunchTemplate{ID: &id, Version: 2}), 3)
		if _, err := w.ec2.DeleteLaunchTemplate(t.Context(), &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &id}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		seen := w.observe(target)
		if seen.Group == nil || seen.Wanted.Content != "" || len(seen.Issues) == 0 ||
			!strings.Contains(seen.Issues[0].Message, "spec.awsLaunchTemplate.existing.id") {
			t.Errorf("want a group that goes on and an issue that names the field, got %+v, %v", seen.Group, seen.Issues)
		}
	})
}

func TestVersionsSayWhatChanged(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target := aTarget()
		seen := w.observe(target)
		put := func(next aws.Target) string {
			time.Sleep(time.Minute)
			w.start(next, pool.Step{Kind: pool.PutTemplate, Base: seen.Latest().Ref})
			w.driver = w.newDriver()
			seen = w.observe(next)
			return seen.Latest().Description
		}
		if got := put(target); !strings.HasPrefix(got, "first version: ami ami-") || !strings.Contains(got, "(for Kubernetes v1.25.0)") {
			t.Errorf("want the first version to say what it launches, got %q", got)
		}
		for _, c := range []struct {
			reason, want string
			change       func(*awsv1.AWSLaunchTemplate)
		}{
			{"a value that changes", "instanceType t3.large -> m5.large", func(l *awsv1.AWSLaunchTemplate) { l.InstanceType = "m5.large" }},
			{"within a structure", "instanceMetadataOptions.httpTokens required", func(l *awsv1.AWSLaunchTemplate) {
				l.InstanceMetadataOptions = &awsv1.InstanceMetadataOptions{HTTPTokens: awsv1.HTTPTokensRequired}
			}},
			{"a volume", "rootVolume /dev/sda1, rootVolume.deleteOnTermination true, rootVolume.size 40", func(l *awsv1.AWSLaunchTemplate) {
				l.RootVolume = &awsv1.Volume{Size: 40}
			}},
			{"its size", "rootVolume.size 40 -> 80", func(l *awsv1.AWSLaunchTemplate) { l.RootVolume.Size = 80 }},
			{"what is not said any more", "no sshKeyName", func(l *awsv1.AWSLaunchTemplate) { l.SSHKeyName = ptr("") }},
		} {
			target = with(target, func(s *awsv1.AWSMachinePoolSpec) { c.change(&s.AWSLaunchTemplate) })
			if got := put(target); got != c.want {
				t.Errorf("%s: want %q, got %q", c.reason, c.want, got)
			}
		}
		target.Bootstrap = cloud.NewBootstrap([]byte(bootstrap+"# token abcdef.0123456789abcdef\n"), "cloud-config")
		if got := put(target); got != "other bootstrap data" {
			t.Errorf("want no word of the data itself, got %q", got)
		}
	})
}

func TestTheDefaultFollows(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, first := w.create(aTarget(), 0)
		target = with(target, func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" })
		w.start(target, pool.Step{Kind: pool.PutTemplate, Base: first.Latest().Ref})
		seen := w.observe(target)
		for range 2 {
			w.start(target, pool.Step{Kind: pool.DefaultTemplate, Template: seen.Latest().Ref})
		}
		for _, driver := range []*aws.Driver{w.driver, w.newDriver()} {
			w.driver = driver
			if seen = w.observe(target); !seen.Versions[0].Undeletable || seen.Versions[1].Undeletable {
				t.Errorf("want the newest version to be the default, and no other, got %+v", seen.Versions)
			}
		}
		if err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.DefaultTemplate, Template: "lt-0123456789abcdef0:1"}); err == nil {
			t.Error("want a version of another template refused")
		}
		id, _, _ := strings.Cut(seen.Latest().Ref, ":")
		if err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.DefaultTemplate,
			Template: id + ":9"}); cloud.KindOf(err) != cloud.Conflict {
			t.Errorf("want a version that is gone to be looked for again, got %v", err)
		}
	})
}
