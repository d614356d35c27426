package aws_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/ec2"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/aws"
	"github.com/muster-project/muster/pool"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	sims3 "github.com/muster-project/muster/sim/aws/s3"
)

// noise is data that can't be made much shorter.
func noise(seed uint32) string {
	text := []byte("#cloud-config\n# ")
	for x := seed; len(text) < 30000; {
		x = x*1664525 + 1013904223
		text = append(text, "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ+/"[x>>26])
	}
	return string(text)
}

// tooLong is the small pool of a cluster with a bucket and with bootstrap data that user data has no room for.
func tooLong(data, format string) aws.Target {
	target := aTarget()
	source := *target.Spec
	source.Cluster.Bucket = &awsv1.BucketView{Name: simaws.BucketName}
	target.Spec, target.Bootstrap = &source, cloud.NewBootstrap([]byte(data), format)
	return target
}

// userData returns the user data of the newest version.
func (w *world) userData(o pool.Observed) string {
	w.t.Helper()
	id, number, _ := strings.Cut(o.Latest().Ref, ":")
	found, err := w.ec2.DescribeLaunchTemplateVersions(w.t.Context(),
		&ec2.DescribeLaunchTemplateVersionsInput{LaunchTemplateId: &id, Versions: []string{number}})
	if err != nil {
		w.t.Fatal(err)
	}
	text, err := base64.StdEncoding.DecodeString(*found.LaunchTemplateVersions[0].LaunchTemplateData.UserData)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// calls returns the number of calls of an operation.
func (w *world) calls(operation string) int {
	n := 0
	for _, name := range w.wire.since(0) {
		if name == operation {
			n++
		}
	}
	return n
}

func TestLargeDataGoesThroughTheBucket(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		data := noise(1)
		target, seen := w.reconcile(tooLong(data, "cloud-config"), 20)
		key := simaws.BucketName + "/machine-pool/" + target.Owner.ID + "/" + target.Bootstrap.Hash()
		if got := w.server.Objects(simaws.BucketName); !slices.Equal(got, []string{key}) {
			t.Errorf("want the data under the owner's ID and its hash, got %v", got)
		}
		if len(seen.Versions) != 1 || w.calls("PutObject") != 1 || w.calls("HeadObject") > 3 {
			t.Errorf("want one version, the object written once and rarely looked at in twenty passes, got %+v, %d and %d", seen.Versions,
				w.calls("PutObject"), w.calls("HeadObject"))
		}
		include, found := strings.CutPrefix(w.userData(seen), "#include\n")
		if !found {
			t.Fatalf("want user data that cloud-init follows, got %q", w.userData(seen))
		}
		got, err := w.server.Fetch(t.Context(), sim.Machine{}, strings.TrimSpace(include))
		if err != nil || string(got) != data {
			t.Errorf("want the machine to fetch the data whole, got %d bytes, %v", len(got), err)
		}
		for _, other := range []string{"another namespace's", "another cluster's"} {
			next := target
			next.Owner.ID, next.Owner.Namespace, next.Remembered = other, other, nil
			w.reconcile(next, 2)
		}
		if got := w.server.Objects(simaws.BucketName); len(got) != 3 {
			t.Errorf("want an object for each owner, whatever the names are, got %v", got)
		}
		w.start(target, pool.Step{Kind: pool.DeleteGroup})
		settle()
		w.start(target, pool.Step{Kind: pool.DeleteTemplates})
		if got := w.server.Objects(simaws.BucketName); slices.Contains(got, key) || len(got) != 2 {
			t.Errorf("want the object gone with the pool, and no other, got %v", got)
		}
	})
}

func TestAPresignedAddressIsRenewedInTime(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target := tooLong(noise(1), "cloud-config")
		target.Spec.Cluster.Bucket.PresignedURLDuration = 4 * time.Hour
		_, seen := w.reconcile(target, 40)
		made := w.calls("CreateLaunchTemplateVersion") + w.calls("CreateLaunchTemplate")
		if hours := 40 * 11 / 60; made < hours/2 || made > hours/2+2 {
			t.Errorf("want a version for every half of an address's life, in %d hours, got %d", hours, made)
		}
		address := strings.TrimSpace(strings.TrimPrefix(w.userData(seen), "#include\n"))
		if _, err := w.server.Fetch(t.Context(), sim.Machine{}, address); err != nil {
			t.Errorf("want the newest address to be valid, got %v", err)
		}
		for _, v := range seen.Versions {
			if !v.Same(seen.Wanted) {
				t.Errorf("want no machine made stale by another address, got %+v", v)
			}
		}
		if got := w.server.Objects(simaws.BucketName); len(got) != 1 {
			t.Errorf("want one object, for the data is the same, got %v", got)
		}
	})
}

func TestObjectsGoWithTheirVersions(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, seen := w.reconcile(tooLong(noise(1), "cloud-config"), 3)
		old := seen.Latest()
		target.Bootstrap = cloud.NewBootstrap([]byte(noise(2)), "cloud-config")
		w.start(target, pool.Step{Kind: pool.PutTemplate, Base: old.Ref})
		seen = w.observe(target)
		w.start(target, pool.Step{Kind: pool.DefaultTemplate, Template: seen.Latest().Ref})
		if got := w.server.Objects(simaws.BucketName); len(got) != 2 {
			t.Fatalf("want an object for each version, got %v", got)
		}
		w.start(target, pool.Step{Kind: pool.PruneTemplates, Refs: []string{old.Ref}})
		if got := w.server.Objects(simaws.BucketName); len(got) != 1 || !strings.HasSuffix(got[0], target.Bootstrap.Hash()) {
			t.Errorf("want the object of the version that was pruned to be gone, got %v", got)
		}
	})
}

func TestObjectsAreKeptAlive(t *testing.T) {
	account := simaws.DefaultAccount()
	account.Buckets = []sims3.Bucket{{Name: simaws.BucketName, ExpireAfter: 24 * time.Hour}}
	inWorldOf(t, account, func(t *testing.T, w *world) {
		target, _ := w.reconcile(tooLong(noise(1), "ignition"), 3)
		target = with(target, func(s *awsv1.AWSMachinePoolSpec) { s.AWSLaunchTemplate.InstanceType = "m5.large" })
		target.Bootstrap = cloud.NewBootstrap([]byte(noise(2)), "ignition")
		target, seen := w.reconcile(target, 400)
		if len(seen.Versions) != 2 || len(seen.MissingPrerequisites) != 0 || len(seen.Issues) != 0 {
			t.Fatalf("want both versions as they were and nothing to be said, got %+v, %v, %v", seen.Versions, seen.MissingPrerequisites,
				seen.Issues)
		}
		// A process that has just begun looks at each object once.
		processes, periods := 400/7+1, 400*11/60/6+1
		if w.calls("PutObject")+w.calls("CopyObject") > 16 || w.calls("HeadObject") > 2*(processes+periods) {
			t.Errorf("want few calls in three days, got %d writes, %d looks", w.calls("PutObject")+w.calls("CopyObject"), w.calls("HeadObject"))
		}
		for _, v := range seen.Versions {
			w.reach(v)
		}
		old := "machine-pool/" + target.Owner.ID + "/" + seen.Versions[1].Data
		w.server.RemoveObject(simaws.BucketName, old)
		w.server.RemoveObject(simaws.BucketName, "machine-pool/"+target.Owner.ID+"/"+target.Bootstrap.Hash())
		_, seen = w.reconcile(target, 70)
		w.reach(seen.Versions[0])
		if len(seen.Issues) == 0 || !strings.Contains(seen.Issues[0].Message, old) || seen.Issues[0].Reason != "BootstrapDataGone" {
			t.Errorf("want what can't be put there again to be said, got %v", seen.Issues)
		}
		if got := w.observe(target).Versions[1].Data; got != "" {
			t.Errorf("want the version without its object to count as one without data, so that no group goes on launching from it, got %s", got)
		}
	})
}

// reach makes sure that a version's object is there.
func (w *world) reach(v pool.Template) {
	w.t.Helper()
	if !slices.ContainsFunc(w.server.Objects(simaws.BucketName), func(name string) bool { return strings.HasSuffix(name, "/"+v.Data) }) {
		w.t.Errorf("version %s: want what it points to, got %v", v.Ref, w.server.Objects(simaws.BucketName))
	}
}

func TestIgnitionPointsToTheBucket(t *testing.T) {
	type remote struct {
		Source       string
		Verification struct{ Hash string }
	}
	type config struct {
		Ignition struct {
			Version string
			Config  struct{ Append, Merge []remote }
			Proxy   struct {
				HTTPProxy string
				NoProxy   []string
			}
			Security struct {
				TLS struct{ CertificateAuthorities []struct{ Source string } }
			}
		}
	}
	inWorld(t, func(t *testing.T, w *world) {
		for _, c := range []struct {
			reason, version, data, want string
			presigned                   time.Duration
		}{
			{"version 2 appends", "2.3", `{"ignition":{"version":"2.3.0"}}`, "2.3.0", 0},
			{"version 3 merges", "3.4", `{"ignition":{"version":"3.4.0"}}`, "3.4.0", 0},
			{"from an address of its own", "3.1", `{"ignition":{"version":"3.1.0"}}`, "3.1.0", time.Hour},
		} {
			target := tooLong(c.data, "ignition")
			target.Owner.ID, target.Owner.Name = c.want+c.reason, strings.ReplaceAll(c.want, ".", "-")
			target.Spec.Cluster.Bucket.PresignedURLDuration = c.presigned
			target = with(target, func(s *awsv1.AWSMachinePoolSpec) {
				s.Ignition = &awsv1.Ignition{Version: c.version, StorageType: awsv1.IgnitionStorageTypeOptionClusterObjectStore}
				if c.version != "2.3" {
					s.Ignition.Proxy = &awsv1.IgnitionProxy{HTTPProxy: ptr("http://proxy"), NoProxy: []awsv1.IgnitionNoProxy{"10.0.0.0/8"}}
					s.Ignition.TLS = &awsv1.IgnitionTLS{CASources: []awsv1.IgnitionCASource{"https://ca"}}
				}
			})
			_, seen := w.reconcile(target, 2)
			var got config
			if err := json.Unmarshal([]byte(w.userData(seen)), &got); err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			from := slices.Concat(got.Ignition.Config.Append, got.Ignition.Config.Merge)
			if len(from) != 1 || got.Ignition.Version != c.want || (len(got.Ignition.Config.Append) == 1) != (c.version == "2.3") ||
				!strings.HasPrefix(from[0].Verification.Hash, "sha512-") {
				t.Errorf("%s: want one source of the version %s that is verified, got %+v", c.reason, c.want, got)
			}
			if scheme := "s3://"; strings.HasPrefix(from[0].Source, scheme) != (c.presigned == 0) {
				t.Errorf("%s: want the machine's own permissions unless the cluster asks for an address, got %s", c.reason, from[0].Source)
			}
			if proxied := got.Ignition.Proxy.HTTPProxy == "http://proxy" && len(got.Ignition.Proxy.NoProxy) == 1 &&
				len(got.Ignition.Security.TLS.CertificateAuthorities) == 1; proxied != (c.version != "2.3") {
				t.Errorf("%s: want proxy and authorities as they are asked for, got %+v", c.reason, got)
			}
			if c.presigned > 0 {
				if data, err := w.server.Fetch(t.Context(), sim.Machine{}, from[0].Source); err != nil || string(data) != c.data {
					t.Errorf("%s: want the data, got %q, %v", c.reason, data, err)
				}
			}
		}
	})
}

func TestNoAddressIsRepeated(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.reconcile(tooLong(noise(1), "cloud-config"), 1)
		seen := w.observe(target)
		address := strings.TrimSpace(strings.TrimPrefix(w.userData(seen), "#include\n"))
		if err := w.server.Faults().Add(sim.Fault{
			Kind: sim.ErrorBefore, Action: "CreateLaunchTemplateVersion", Code: "InvalidUserData", Message: "bad: #include " + address, Status: 400,
		}); err != nil {
			t.Fatal(err)
		}
		target = sized(target, 40)
		err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.PutTemplate, Base: seen.Latest().Ref})
		_, signature, _ := strings.Cut(address, "X-Amz-Signature=")
		if err == nil || strings.Contains(err.Error(), signature) || !strings.Contains(err.Error(), "InvalidUserData") {
			t.Errorf("want the refusal without the address that it repeats, got %v", err)
		}
	})
}

func TestObjectsThatCantBeLookedAt(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target, _ := w.reconcile(tooLong(noise(1), "cloud-config"), 3)
		for _, f := range []sim.Fault{
			{Kind: sim.ErrorBefore, Action: "HeadObject", Code: "AccessDenied", Status: 403}, {Kind: sim.DropBefore, Action: "HeadObject"},
		} {
			if err := w.server.Faults().Add(f); err != nil {
				t.Fatal(err)
			}
			w.driver = w.newDriver()
			time.Sleep(time.Hour)
			seen := w.observe(target)
			if seen.Group == nil || len(seen.MissingPrerequisites) != 0 || len(seen.Issues) != 1 ||
				!strings.Contains(seen.Issues[0].Message, "machine-pool/") {
				t.Errorf("%s: want the pool looked after and an issue, got %+v, %v, %v", f.Kind, seen.Group, seen.MissingPrerequisites, seen.Issues)
			}
			looks := w.calls("HeadObject")
			if w.observe(target); w.calls("HeadObject") != looks {
				t.Errorf("%s: want no look each pass, got %d after %d", f.Kind, w.calls("HeadObject"), looks)
			}
		}
	})
}

func TestABucketThatIsNotThere(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		target := tooLong(noise(1), "cloud-config")
		target.Spec.Cluster.Bucket.Name = "nobodys"
		target.Remembered = w.observe(target).ResolvedLookups
		err := w.driver.Start(t.Context(), target, pool.Step{Kind: pool.PutTemplate})
		var refused *cloud.Error
		if !errors.As(err, &refused) || refused.Kind != cloud.Invalid || refused.Field != "AWSCluster spec.s3Bucket" {
			t.Errorf("want the bucket's field named, got %v", err)
		}
		if made := w.calls("CreateLaunchTemplate"); made != 0 {
			t.Errorf("want no version that points to nothing, got %d", made)
		}
		target.Spec.Cluster.Bucket = nil
		if _, err := w.driver.Observe(t.Context(), target); err == nil || !strings.Contains(err.Error(), "16384") ||
			!strings.Contains(err.Error(), "spec.s3Bucket") {
			t.Errorf("want the limit and the way out said, got %v", err)
		}
	})
}
