package aws_test

import (
	"strings"
	"testing"
	"time"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/pool"
	simaws "github.com/muster-project/muster/sim/aws"
)

// The way in which machines get the same data may change: new machines get it the new way, by one more version, and nothing is stale.
func TestAnotherWayToTheSameData(t *testing.T) {
	stored := awsv1.IgnitionStorageTypeOptionClusterObjectStore
	for _, c := range []struct {
		reason string
		before awsv1.IgnitionStorageTypeOption
		change func(*awsv1.MachinePoolSource)
		want   string
	}{
		{"a proxy", stored, func(s *awsv1.MachinePoolSource) {
			s.Pool.Ignition.Proxy = &awsv1.IgnitionProxy{HTTPSProxy: ptr("http://proxy")}
		}, `"httpsProxy":"http://proxy"`},
		{"another version of Ignition", stored, func(s *awsv1.MachinePoolSource) { s.Pool.Ignition.Version = "3.3" }, `"version":"3.3.0"`},
		{"the bucket", awsv1.IgnitionStorageTypeOptionUnencryptedUserData,
			func(s *awsv1.MachinePoolSource) { s.Pool.Ignition.StorageType = stored }, "s3://" + simaws.BucketName},
		{"the user data itself", stored, func(s *awsv1.MachinePoolSource) {
			s.Pool.Ignition.StorageType = awsv1.IgnitionStorageTypeOptionUnencryptedUserData
		}, `"passwd"`},
		{"an address of its own", stored, func(s *awsv1.MachinePoolSource) { s.Cluster.Bucket.PresignedURLDuration = 7 * 24 * time.Hour },
			"X-Amz-Signature"},
	} {
		inWorld(t, func(t *testing.T, w *world) {
			target := with(tooLong(`{"ignition":{"version":"3.4.0"},"passwd":{}}`, "ignition"), func(s *awsv1.AWSMachinePoolSpec) {
				s.Ignition = &awsv1.Ignition{Version: "3.4", StorageType: c.before}
			})
			target, seen := w.reconcile(target, 8)
			if strings.Contains(w.userData(seen), c.want) || len(seen.Versions) != 1 {
				t.Fatalf("%s: want one version without it, got %s", c.reason, w.userData(seen))
			}
			changed := *target.Spec
			bucket := *changed.Cluster.Bucket
			changed.Pool, changed.Cluster.Bucket = changed.Pool.DeepCopy(), &bucket
			c.change(&changed)
			target.Spec = &changed
			made := w.calls("CreateLaunchTemplateVersion")
			_, seen = w.reconcile(target, 12)
			if !strings.Contains(w.userData(seen), c.want) || w.calls("CreateLaunchTemplateVersion") != made+1 {
				t.Errorf("%s: want one more version that has %s, got %d more, the newest with %s", c.reason, c.want,
					w.calls("CreateLaunchTemplateVersion")-made, w.userData(seen))
			}
			for _, v := range append([]pool.Template{seen.Latest()}, seen.Versions...) {
				if !v.Same(seen.Wanted) {
					t.Errorf("%s: want nothing stale, got %+v for %+v", c.reason, v, seen.Wanted)
				}
			}
		})
	}
}
