package aws_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/muster-project/muster/sim"
	"github.com/muster-project/muster/sim/aws"
)

// Each fault of a request does what its name says: to the answer, and to what is there afterwards.
func TestRequestFaults(t *testing.T) {
	for _, c := range []struct {
		name    string
		fault   sim.Fault
		code    string // "" success, "-" a lost connection
		message string
		happens bool
	}{
		{"throttled", sim.Fault{Kind: sim.Throttle}, "RequestLimitExceeded", "", false},
		{"error before the effect", sim.Fault{Kind: sim.ErrorBefore}, "InternalError", "", false},
		{"error after the effect", sim.Fault{Kind: sim.ErrorAfter}, "InternalError", "", true},
		{"an error of one's own", sim.Fault{Kind: sim.ErrorBefore, Code: "UnauthorizedOperation", Message: "You are not authorized.",
			Status: 403},
			"UnauthorizedOperation", "You are not authorized.", false},
		{"request lost", sim.Fault{Kind: sim.DropBefore}, "-", "", false},
		{"reply lost", sim.Fault{Kind: sim.DropAfter}, "-", "", true},
		{"another action", sim.Fault{Kind: sim.DropBefore, Action: "Delete*"}, "", "", true},
		{"another service", sim.Fault{Kind: sim.DropBefore, Service: "autoscaling"}, "", "", true},
		{"another name", sim.Fault{Kind: sim.DropBefore, Resource: "others"}, "", "", true},
		{"this name", sim.Fault{Kind: sim.Throttle, Service: "ec2", Action: "Create*", Resource: pool}, "RequestLimitExceeded", "", false},
		{"a later match", sim.Fault{Kind: sim.Throttle, Action: "CreateLaunchTemplate", Skip: 1}, "", "", true},
		{"chance of nothing happens to hit", sim.Fault{Kind: sim.Throttle, Action: "CreateLaunchTemplate", Probability: 1e-9}, "", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
				data := w.data()
				ok(t, w.server.Faults().Add(c.fault))
				_, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: awssdk.String(pool),
					LaunchTemplateData: data})
				switch c.code {
				case "":
					ok(t, err)
				case "-":
					if !errors.Is(err, sim.ErrDropped) {
						t.Errorf("want the connection dropped, got %v", err)
					}
				default:
					wantCode(t, err, c.code)
				}
				if !strings.Contains(errorText(err), c.message) {
					t.Errorf("want %q in the message, got %v", c.message, err)
				}
				if got := len(w.server.State(aws.AccountID, aws.Region).Templates) == 1; got != c.happens {
					t.Errorf("want the template made: %v, got %v", c.happens, got)
				}
			})
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A client that asks again after a lost reply with the same token finds what it has made.
func TestLostReplyAndToken(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		in := &ec2.CreateLaunchTemplateInput{LaunchTemplateName: awssdk.String(pool), LaunchTemplateData: w.data(),
			ClientToken: awssdk.String("once")}
		ok(t, w.server.Faults().Add(sim.Fault{Kind: sim.DropAfter, Action: "CreateLaunchTemplate", Times: 1}))
		if _, err := w.ec2.CreateLaunchTemplate(t.Context(), in); !errors.Is(err, sim.ErrDropped) {
			t.Fatalf("want the reply lost, got %v", err)
		}
		_, err := w.ec2.CreateLaunchTemplate(t.Context(), in)
		ok(t, err)
		if n := len(w.server.State(aws.AccountID, aws.Region).Templates); n != 1 {
			t.Errorf("want one template, got %d", n)
		}
	})
}

// Stale reads serve what was there, by time or by writes; writes never see the past.
func TestStaleReads(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		names := func() []string {
			out, err := w.ec2.DescribeLaunchTemplates(t.Context(), &ec2.DescribeLaunchTemplatesInput{})
			ok(t, err)
			var n []string
			for _, x := range out.LaunchTemplates {
				n = append(n, *x.LaunchTemplateName)
			}
			slices.Sort(n)
			return n
		}
		w.template("one")
		after(10 * time.Second)
		w.template("two")
		w.template("three")
		for _, c := range []struct {
			why   string
			fault sim.Fault
			want  []string
		}{
			{"the last write not seen yet", sim.Fault{Kind: sim.Stale, Writes: 1}, []string{"one", "two"}},
			{"two writes not seen yet", sim.Fault{Kind: sim.Stale, Writes: 2}, []string{"one"}},
			{"as of five seconds ago", sim.Fault{Kind: sim.Stale, Delay: sim.Duration(5 * time.Second)}, []string{"one"}},
			{"as of a minute ago", sim.Fault{Kind: sim.Stale, Delay: sim.Duration(time.Minute)}, nil},
			{"as of now", sim.Fault{Kind: sim.Stale}, []string{"one", "three", "two"}},
		} {
			w.server.Faults().Clear()
			ok(t, w.server.Faults().Add(c.fault))
			if got := names(); !slices.Equal(got, c.want) {
				t.Errorf("%s: want %v, got %v", c.why, c.want, got)
			}
		}
		w.server.Faults().Clear()
		ok(t, w.server.Faults().Add(sim.Fault{Kind: sim.Stale, Action: "*LaunchTemplate*", Writes: 3}))
		_, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: awssdk.String("three"),
			LaunchTemplateData: w.data()})
		wantCode(t, err, "InvalidLaunchTemplateName.AlreadyExistsException")
		if played := w.server.Faults().List()[0].Played; played != 0 {
			t.Errorf("want the fault not played on a write, got %d", played)
		}
	})
}

// With a limit on pages, a client that follows the tokens sees everything, and one that does not sees one page.
func TestPageLimit(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		id := w.template("one")
		for range 2 {
			_, err := w.ec2.CreateLaunchTemplateVersion(t.Context(),
				&ec2.CreateLaunchTemplateVersionInput{LaunchTemplateId: &id, LaunchTemplateData: w.data()})
			ok(t, err)
		}
		for _, c := range []struct{ limit, pages int }{{0, 1}, {1, 3}, {2, 2}, {3, 1}, {1000, 1}} {
			w.server.Faults().Clear()
			if c.limit > 0 {
				ok(t, w.server.Faults().Add(sim.Fault{Kind: sim.PageLimit, Limit: c.limit}))
			}
			var seen []int64
			pages := 0
			list := ec2.NewDescribeLaunchTemplateVersionsPaginator(w.ec2, &ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id})
			for list.HasMorePages() {
				page, err := list.NextPage(t.Context())
				ok(t, err)
				pages++
				for _, v := range page.LaunchTemplateVersions {
					seen = append(seen, *v.VersionNumber)
				}
			}
			if want := []int64{3, 2, 1}; !slices.Equal(seen, want) || pages != c.pages {
				t.Errorf("limit %d: want versions %v in %d pages, got %v in %d", c.limit, want, c.pages, seen, pages)
			}
		}
		w.server.Faults().Clear()
		ok(t, w.server.Faults().Add(sim.Fault{Kind: sim.PageLimit, Limit: 1, Action: "DescribeSubnets"}))
		subnets, err := w.ec2.DescribeSubnets(t.Context(), &ec2.DescribeSubnetsInput{})
		ok(t, err)
		if len(subnets.Subnets) != 1 || subnets.NextToken == nil {
			t.Errorf("want one subnet and a token for the rest, though no page was asked for, got %d, token %v", len(subnets.Subnets),
				subnets.NextToken != nil)
		}
	})
}

// A delayed answer is late, and a caller who has gone away gets none.
func TestDelay(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		ok(t, w.server.Faults().Add(sim.Fault{Kind: sim.Delay, Delay: sim.Duration(3 * time.Second)}))
		start := time.Now()
		_, err := w.ec2.DescribeVpcs(t.Context(), &ec2.DescribeVpcsInput{})
		ok(t, err)
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("want three seconds, got %v", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := w.ec2.DescribeVpcs(ctx, &ec2.DescribeVpcsInput{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("want the caller's deadline, got %v", err)
		}
	})
}

// Faults of machines: one that never boots runs for the cloud alone, one that dies or fails its checks is replaced.
func TestMachineFaults(t *testing.T) {
	for _, c := range []struct {
		name     string
		fault    sim.Fault
		replaced bool
		machines int
	}{
		{"never boots", sim.Fault{Kind: sim.NeverBoots, Group: pool, Times: 1}, false, 1},
		{"dies", sim.Fault{Kind: sim.Dies, Delay: sim.Duration(15 * time.Second), Times: 1}, true, 2},
		{"impaired", sim.Fault{Kind: sim.Impaired, Delay: sim.Duration(15 * time.Second), Times: 1}, true, 2},
		{"spot interruption of one on demand", sim.Fault{Kind: sim.SpotInterruption, Delay: sim.Duration(time.Second)}, false, 2},
		{"another group", sim.Fault{Kind: sim.Dies, Group: "others"}, false, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
				ok(t, w.server.Faults().Add(c.fault))
				w.settled(2, 2, 2)
				before := w.inState(pool, "InService")
				after(30 * time.Second)
				w.wantServing(pool, 2)
				if replaced := !slices.Equal(before, w.inState(pool, "InService")); replaced != c.replaced {
					t.Errorf("want one replaced: %v, got %v then %v", c.replaced, before, w.inState(pool, "InService"))
				}
				if n := w.guests.count(); n != c.machines {
					t.Errorf("want %d machines running, got %d", c.machines, n)
				}
			})
		})
	}
}

// A template that is taken away from under its group shows in the failed launches, and a new one heals it.
func TestTemplateDroppedByHand(t *testing.T) {
	inWorld(t, aws.Options{}, func(t *testing.T, w *world) {
		w.settled(0, 1, 3)
		ok(t, w.server.DropTemplate(pool))
		w.resize(2)
		if a := w.activities()[0]; a.StatusCode != "Failed" || !strings.Contains(*a.StatusMessage, "does not exist") {
			t.Errorf("want a failed launch that says so, got %s: %s", a.StatusCode, awssdk.ToString(a.StatusMessage))
		}
		id := w.template(pool)
		_, err := w.as.UpdateAutoScalingGroup(t.Context(), &autoscaling.UpdateAutoScalingGroupInput{
			AutoScalingGroupName: awssdk.String(pool), LaunchTemplate: w.groupInput(pool, id, 0, 2, 3).LaunchTemplate,
		})
		ok(t, err)
		after(10 * time.Second)
		w.wantServing(pool, 2)
	})
}

// Killed and started again in the middle of anything, the simulator goes on where it was, and its machines with it.
func TestRestartFromDisk(t *testing.T) {
	dir := t.TempDir()
	inWorld(t, aws.Options{Dir: dir}, func(t *testing.T, w *world) {
		ctx := t.Context()
		id := w.settled(0, 2, 5)
		w.hook("drain", terminating, "CONTINUE", 300)
		ids := w.inState(pool, "InService")
		_, err := w.as.TerminateInstanceInAutoScalingGroup(ctx, &autoscaling.TerminateInstanceInAutoScalingGroupInput{InstanceId: &ids[0],
			ShouldDecrementDesiredCapacity: awssdk.Bool(false)})
		ok(t, err)
		token := &ec2.CreateLaunchTemplateVersionInput{LaunchTemplateId: &id, LaunchTemplateData: w.data(), ClientToken: awssdk.String("once")}
		_, err = w.ec2.CreateLaunchTemplateVersion(ctx, token)
		ok(t, err)
		after(300 * time.Millisecond)
		before := w.read(pool)

		// What is on disk at this moment is what a killed process leaves, with half a write at its end.
		left := t.TempDir()
		log, err := os.ReadFile(filepath.Join(dir, "state.log"))
		ok(t, err)
		ok(t, os.WriteFile(filepath.Join(left, "state.log"), append(log, `{"123456789012/eu-west-1/group/x`...), 0o600))
		again := newWorld(t, aws.Options{Dir: left})
		defer again.close()
		if got := again.read(pool); states(got) != states(before) {
			t.Errorf("want the same instances, before%s, after%s", states(before), states(got))
		}
		if n := again.guests.count(); n != 2 {
			t.Errorf("want the 2 machines that ran powered on again, got %d", n)
		}
		if m := again.guests.running[ids[1]]; m.KubeletVersion != "v1.34.1" || string(m.UserData) != "#cloud-config\n" {
			t.Errorf("want the machine as it was, got %+v", m)
		}
		out, err := again.ec2.CreateLaunchTemplateVersion(ctx, token)
		ok(t, err)
		if n := *out.LaunchTemplateVersion.VersionNumber; n != 2 {
			t.Errorf("want the token remembered: version 2, got %d", n)
		}
		ok(t, again.complete("drain", ids[0], "CONTINUE"))
		after(10 * time.Second)
		again.wantServing(pool, 2)
		var seen []string
		for _, i := range again.server.State(aws.AccountID, aws.Region).Instances {
			if slices.Contains(seen, i.ID) {
				t.Errorf("instance ID %s was given twice", i.ID)
			}
			seen = append(seen, i.ID)
		}
	})
}

// What happens while the simulator is down is made up for when it comes back.
func TestTimePassesWhileDown(t *testing.T) {
	dir := t.TempDir()
	inWorld(t, aws.Options{}, func(t *testing.T, _ *world) {
		w := newWorld(t, aws.Options{Dir: dir})
		w.group(pool, w.template(pool), 0, 2, 5)
		after(500 * time.Millisecond)
		w.close()
		after(time.Hour)
		again := newWorld(t, aws.Options{Dir: dir})
		defer again.close()
		after(3 * time.Second)
		if n := again.guests.count(); n != 2 {
			t.Errorf("want 2 machines before anybody asks, got %d", n)
		}
		again.wantServing(pool, 2)
	})
}
