package aws_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
)

// kept brings the pool to rest with a history of that length.
func (w *world) kept(target aws.Target, keep int) (aws.Target, pool.Observed) {
	w.t.Helper()
	return w.toRest(target, pool.Desired{Max: 5, TemplateHistoryLimit: keep})
}

// toRest looks, decides and begins until nothing is left to do. Refusals of the cloud are met with another look.
func (w *world) toRest(target aws.Target, desired pool.Desired) (aws.Target, pool.Observed) {
	w.t.Helper()
	for range 60 {
		time.Sleep(time.Minute)
		seen, err := w.driver.Observe(w.t.Context(), target)
		if err != nil {
			continue
		}
		target.Remembered = seen.ResolvedLookups
		plan := pool.Decide(desired, seen, w.driver.Traits(), time.Now())
		if plan.Step == nil {
			return target, seen
		}
		_ = w.driver.Start(w.t.Context(), target, *plan.Step)
	}
	w.t.Fatal("want the pool to come to rest")
	return target, pool.Observed{}
}

// sized is the target with a root volume of that size.
func sized(target aws.Target, size int64) aws.Target {
	return with(target, func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.RootVolume = &awsv1.Volume{Size: size} })
}

// rotated is the target with other bootstrap data.
func rotated(target aws.Target, n int) aws.Target {
	target.Bootstrap = cloud.NewBootstrap(fmt.Appendf(nil, "%s# %d\n", bootstrap, n), "cloud-config")
	return target
}

// contents are the contents of the versions, newest first, each once.
func contents(versions []pool.Template) (list []string) {
	for k, v := range versions {
		if k == 0 || v.Content != versions[k-1].Content {
			list = append(list, v.Content)
		}
	}
	return list
}

func TestHistory(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, seen := w.kept(aTarget(), 3)
		for k := range 6 {
			target, _ = w.kept(sized(target, int64(20+k)), 3)
			for n := range 3 {
				target, seen = w.kept(rotated(target, 10*k+n), 3)
			}
		}
		if got := contents(seen.Versions); len(got) != 3 || got[0] != seen.Wanted.Content || len(seen.Versions) > 4 {
			t.Errorf("want the last three contents, whatever tokens were rotated meanwhile, got %+v", seen.Versions)
		}
		if newest := seen.Latest(); !newest.Undeletable || newest.Ref != seen.Group.Template {
			t.Errorf("want the default to follow what the group launches from, got %+v beside %s", newest, seen.Group.Template)
		}
		for _, c := range []struct {
			reason string
			keep   int
			want   int
		}{
			{"a smaller number prunes at once", 2, 2},
			{"a larger one brings nothing back", 5, 2},
		} {
			if target, seen = w.kept(target, c.keep); len(contents(seen.Versions)) != c.want {
				t.Errorf("%s: want %d contents, got %+v", c.reason, c.want, seen.Versions)
			}
		}
		for k := range 4 {
			target, seen = w.kept(sized(target, int64(40+k)), 5)
		}
		if got := len(contents(seen.Versions)); got != 5 {
			t.Errorf("want as many as asked for, got %d: %+v", got, seen.Versions)
		}
	})
}

func TestHistoryThatOthersPrune(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, seen := w.kept(aTarget(), 3)
		for k := range 3 {
			target, seen = w.kept(sized(target, int64(20+k)), 3)
		}
		numbers := make([]string, 0, len(seen.Versions))
		for _, v := range seen.Versions[1:] {
			_, number, _ := strings.Cut(v.Ref, ":")
			numbers = append(numbers, number)
		}
		id, _, _ := strings.Cut(seen.Latest().Ref, ":")
		if _, err := w.ec2.DeleteLaunchTemplateVersions(t.Context(),
			&ec2.DeleteLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: numbers}); err != nil {
			t.Fatal(err)
		}
		if _, seen = w.kept(sized(target, 50), 2); len(seen.Versions) != 2 || !seen.Latest().Same(seen.Wanted) {
			t.Errorf("want the new version and the one before it, got %+v", seen.Versions)
		}
	})
}

// TestHistoryOfManyVersions holds that a template with more unused versions than EC2 deletes in one request, such as that of an adopted
// group, comes to the limit.
func TestHistoryOfManyVersions(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, seen := w.kept(aTarget(), 2)
		id, _, _ := strings.Cut(seen.Latest().Ref, ":")
		for k := range 205 {
			time.Sleep(time.Second) // the rate that EC2 takes
			if _, err := w.ec2.CreateLaunchTemplateVersion(t.Context(), &ec2.CreateLaunchTemplateVersionInput{
				LaunchTemplateId: &id, LaunchTemplateData: &ec2types.RequestLaunchTemplateData{KeyName: new(fmt.Sprint("key-", k))},
			}); err != nil {
				t.Fatal(err)
			}
		}
		if _, seen = w.kept(sized(target, 50), 2); len(seen.Versions) > 3 || !seen.Latest().Same(seen.Wanted) {
			t.Errorf("want the newest and what is in use, got %d versions", len(seen.Versions))
		}
	})
}

// TestHistoryWithLostReplies holds that whatever call of a change is not answered, before it was heard or after, the pool comes to
// rest with the same versions.
func TestHistoryWithLostReplies(t *testing.T) {
	for _, kind := range []sim.FaultKind{sim.DropBefore, sim.DropAfter} {
		if testing.Short() && kind == sim.DropBefore {
			continue // what never happened is as if it had not been asked for
		}
		for _, action := range []string{"CreateLaunchTemplate", "CreateLaunchTemplateVersion", "ModifyLaunchTemplate",
			"DeleteLaunchTemplateVersions", "PutObject", "DeleteObject"} {
			inWorld(t, func(t *testing.T, w *world) {
				if err := w.server.Faults().Add(sim.Fault{Kind: kind, Action: action, Times: 1}); err != nil {
					t.Fatal(err)
				}
				target, _ := w.kept(tooLong(noise(1), "cloud-config"), 2)
				seen := pool.Observed{}
				for k := range 3 {
					target, seen = w.kept(sized(target, int64(20+k)), 2)
				}
				if len(seen.Versions) != 2 || !seen.Latest().Same(seen.Wanted) || !seen.Latest().Undeletable {
					t.Errorf("%s at %s: want the newest two versions, got %+v", kind, action, seen.Versions)
				}
				if got := w.server.Objects("muster-bootstrap"); len(got) != 1 {
					t.Errorf("%s at %s: want one object, for the data never changed, got %v", kind, action, got)
				}
				w.start(target, pool.Step{Kind: pool.DeleteGroup})
				settle()
				w.toGone(target)
			})
		}
	}
}

// toGone deletes the pool.
func (w *world) toGone(target aws.Target) {
	w.t.Helper()
	target, _ = w.toRest(target, pool.Desired{Deleting: true, Max: 5})
	found, err := w.ec2.DescribeLaunchTemplates(w.t.Context(), &ec2.DescribeLaunchTemplatesInput{})
	if err != nil || len(found.LaunchTemplates) != 0 || len(w.server.Objects("muster-bootstrap")) != 0 {
		w.t.Errorf("want nothing left of %s, got %v and %v, %v", target.Owner.Name, found, w.server.Objects("muster-bootstrap"), err)
	}
}
