package aws_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/muster-project/muster/sim/aws"
)

// What one read and one write cost with a hundred groups of ten.
func BenchmarkHundredGroupsOfTen(b *testing.B) {
	for _, dir := range []string{"", b.TempDir()} {
		s, err := aws.New(aws.Options{Dir: dir, Speed: 1e6, Limits: aws.Limits{}})
		if err != nil {
			b.Fatal(err)
		}
		as, e, _, _ := clients(s, aws.DefaultAccount(), aws.Region)
		w := &world{server: s, as: as, ec2: e}
		ctx := b.Context()
		images, err := e.DescribeImages(ctx, &ec2.DescribeImagesInput{Filters: nameFilter("capa-ami-ubuntu-24.04-v1.34.1-*")})
		if err != nil {
			b.Fatal(err)
		}
		data := w.dataOf(*images.Images[0].ImageId)
		lt, err := e.CreateLaunchTemplate(ctx, &ec2.CreateLaunchTemplateInput{LaunchTemplateName: awssdk.String(pool), LaunchTemplateData: data})
		if err != nil {
			b.Fatal(err)
		}
		for n := range 100 {
			if _, err := as.CreateAutoScalingGroup(ctx, w.groupInput(fmt.Sprintf("g%d", n), *lt.LaunchTemplate.LaunchTemplateId, 0, 10,
				20)); err != nil {
				b.Fatal(err)
			}
		}
		kind := map[bool]string{true: "memory", false: "disk"}[dir == ""]
		b.Run("read/"+kind, func(b *testing.B) {
			for b.Loop() {
				if _, err := as.DescribeAutoScalingGroups(ctx,
					&autoscaling.DescribeAutoScalingGroupsInput{AutoScalingGroupNames: []string{"g1"}}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("write/"+kind, func(b *testing.B) {
			for n := int32(10); b.Loop(); n = 21 - n {
				if _, err := as.SetDesiredCapacity(ctx, &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: awssdk.String("g1"),
					DesiredCapacity: &n}); err != nil {
					b.Fatal(err)
				}
			}
		})
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// Many clients at once, with faults and time passing: nothing tears, and in the end there is what was asked for.
func TestManyClientsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, aws.Options{Limits: aws.Limits{}, Dir: t.TempDir()})
		defer w.close()
		id := w.template(pool)
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				name := fmt.Sprintf("g%d", n)
				if _, err := w.as.CreateAutoScalingGroup(t.Context(), w.groupInput(name, id, 0, 2, 9)); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				for size := int32(1); size < 6; size++ {
					after(time.Duration(n*100) * time.Millisecond)
					if _, err := w.as.SetDesiredCapacity(t.Context(), &autoscaling.SetDesiredCapacityInput{AutoScalingGroupName: &name,
						DesiredCapacity: &size}); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					if _, err := w.as.DescribeAutoScalingGroups(t.Context(), &autoscaling.DescribeAutoScalingGroupsInput{}); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			})
		}
		wg.Wait()
		after(15 * time.Second)
		for n := range 8 {
			w.wantServing(fmt.Sprintf("g%d", n), 5)
		}
		if n := w.guests.count(); n != 40 {
			t.Errorf("want 40 machines, got %d", n)
		}
	})
}
