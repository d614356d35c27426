package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	autoscalingtypes "github.com/aws/aws-sdk-go-v2/service/autoscaling/types"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	simaws "github.com/muster-project/muster/sim/aws"

	"github.com/muster-project/muster/test/e2e/account"
	"github.com/muster-project/muster/test/e2e/world"
	"github.com/muster-project/muster/test/testrun"
)

// badInput is an error in a pool, its message, and its correction.
type badInput struct {
	name, reason string
	manifest     string
	// before is done before the manifest is applied.
	before func(w *world.World)
	// says must be part of the messages of the pool's conditions.
	says string
	// right puts it right.
	right func(w *world.World)
}

// byPatch puts right by changing a field.
func byPatch(object, with string) func(*world.World) {
	return func(w *world.World) { w.Kubectl("patch", object, "--type=merge", "-p", with) }
}

// dataFrom has a pool take its bootstrap data from a secret.
func dataFrom(secret string) []string {
	return []string{`bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfig, name: ` + secret + `}}`,
		`bootstrap: {dataSecretName: ` + secret + `-data}`}
}

var badInputs = []badInput{
	{name: "bad-type", reason: "an instance type that does not exist", manifest: account.PoolOf("bad-type", simaws.InstanceType, "t9.huge"),
		says:  `spec\.awsLaunchTemplate\.instanceType.*t9\.huge`,
		right: byPatch("awsmachinepool/bad-type", `{"spec":{"awsLaunchTemplate":{"instanceType":"t3.large"}}}`)},
	{name: "bad-subnet", reason: "a subnet that is not there",
		manifest: account.PoolOf("bad-subnet", simaws.SubnetID, "subnet-0badbadbadbadbad0"),
		says:     `spec\.subnets\[0\]\.id.*subnet-0badbadbadbadbad0`,
		right:    byPatch("awsmachinepool/bad-subnet", `{"spec":{"subnets":[{"id":"`+simaws.SubnetID+`"}]}}`)},
	{name: "bad-image", reason: "an image that is not there",
		manifest: account.PoolOf("bad-image", "{instanceType:", "{ami: {id: ami-0badbadbadbadbad0}, instanceType:"),
		says:     `spec\.awsLaunchTemplate\.ami.*ami-0badbadbadbadbad0`,
		right:    byPatch("awsmachinepool/bad-image", `{"spec":{"awsLaunchTemplate":{"ami":null}}}`)},
	{name: "bad-version", reason: "a version that no image is published for", manifest: account.PoolOf("bad-version", "v1.25.0", "v1.25.99"),
		says: `v?1\.25\.99`, right: byPatch("machinepool/bad-version", `{"spec":{"template":{"spec":{"version":"v1.25.0"}}}}`)},
	{name: "bad-size", reason: "more replicas than maxSize", manifest: account.PoolOf("bad-size", "replicas: 1", "replicas: 7"),
		says: `7, allowed are 1 \(spec\.minSize\) to 3 \(spec\.maxSize\)`, right: byPatch("machinepool/bad-size", `{"spec":{"replicas":1}}`)},
	{name: "bad-foreign", reason: "a group of the same name that is another owner's",
		manifest: account.PoolOf("bad-foreign", "namespace: default}\nspec:\n  minSize",
			"namespace: default, annotations: {muster.dev/group-name: theirs}}\nspec:\n  minSize"),
		before: makeForeignGroup, says: `theirs`, right: func(w *world.World) {
			w.Kubectl("annotate", "--overwrite", "awsmachinepool/bad-foreign", "muster.dev/group-name=ours")
		}},
	{name: "bad-cluster", reason: "a cluster that does not exist",
		manifest: account.PoolOf("bad-cluster", "clusterName: capa", "clusterName: nowhere"),
		says:     `nowhere`, right: func(w *world.World) {
			w.Kubectl("delete", "machinepool/bad-cluster", "--timeout", world.WaitLimit.String())
			w.Apply(account.PoolOf("bad-cluster"))
		}},
	{name: "bad-secret", reason: "a bootstrap secret that is not there", manifest: account.PoolOf("bad-secret", dataFrom("bad-secret")...),
		says: `bad-secret-data`, right: func(w *world.World) { copyBootstrapData(w, "bad-secret-data", nil) }},
	{name: "bad-data", reason: "bootstrap data that no machine can start from", manifest: account.PoolOf("bad-data", dataFrom("bad-data")...),
		before: func(w *world.World) {
			copyBootstrapData(w, "bad-data-data", func(string) string { return "please join the cluster\n" })
		}, says: `(?i)bad-data-data.*cloud-init|cloud-init.*bad-data-data`,
		right: func(w *world.World) { copyBootstrapData(w, "bad-data-data", nil) }},
}

// TestLongWhatGoesWrong has one world in which much is wrong.
func TestLongWhatGoesWrong(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	w := world.Start(t, t.TempDir())
	w.Ready("capa-mp-0", 2)
	t.Run("ConsoleShowsExpiredToken", func(t *testing.T) { expiredToken(w.In(t)) })
	t.Run("CloudErrorReportedBeforeDependents", func(t *testing.T) { refusalComesFirst(w.In(t)) })
	t.Run("BadInputReportedAndRecovers", func(t *testing.T) { badInputRecovers(w.In(t)) })
	t.Run("ClusterIdentityUsedForCalls", func(t *testing.T) { identityDecides(w.In(t)) })
}

// refusalComesFirst holds that both objects of a new pool report, in the cloud's words, why it is not created, and not that it is being
// created, and that it is created once the cloud no longer refuses.
func refusalComesFirst(w *world.World) {
	w.T.Helper()
	const words = "you may not create launch templates"
	w.Admin(http.MethodPost, "faults", `{"kind":"error-before","service":"ec2","action":"CreateLaunchTemplate","code":"UnauthorizedOperation","status":403,"message":"`+words+`"}`, nil)
	w.Apply(account.PoolOf("refused"))
	for _, is := range []struct{ object, condition string }{{"machinepool", "InfrastructureReady"}, {"awsmachinepool", "Ready"}} {
		path := fmt.Sprintf(`{.status.conditions[?(@.type=="%s")].status} {.status.conditions[?(@.type=="%s")].reason} {.status.conditions[?(@.type=="%s")].message}`,
			is.condition, is.condition, is.condition)
		w.Eventually("the refusal in "+is.condition+" of "+is.object, func() error {
			if got := w.Read(path, is.object+"/refused"); !strings.HasPrefix(got, "False Denied ") || !strings.Contains(got, words) {
				return fmt.Errorf("it is %s", got)
			}
			return nil
		})
	}
	if got := w.Conditions("refused"); strings.Contains(got, "Ready=False GroupMissing") {
		w.T.Errorf("want the refusal in the place of GroupMissing, got\n%s", got)
	}
	w.Admin(http.MethodDelete, "faults", "", nil)
	w.Ready("refused", 1)
	w.Kubectl("delete", "machinepool/refused", "--timeout", world.WaitLimit.String())
}

// badInputRecovers holds that the object reports an error with the name of the field, that nothing is created meanwhile, and that a
// correction suffices.
func badInputRecovers(w *world.World) {
	t := w.T
	t.Helper()
	for _, bad := range badInputs {
		if bad.before != nil {
			bad.before(w)
		}
		w.Apply(bad.manifest)
	}
	for _, bad := range badInputs {
		t.Run(bad.reason, func(t *testing.T) {
			w := w.In(t)
			says := regexp.MustCompile(bad.says)
			w.Eventually(bad.says+" in a condition of "+bad.name, func() error {
				got := w.Conditions(bad.name)
				if !says.MatchString(got) {
					return fmt.Errorf("the conditions are\n%s", got)
				}
				return nil
			})
		})
	}
	if got := len(account.Of(w).Holds().Groups); got != 2 {
		t.Errorf("want the good pool's group and the foreign one, got %v", account.Of(w).Holds().Groups)
	}
	for _, bad := range badInputs {
		bad.right(w)
	}
	for _, bad := range badInputs {
		t.Run(bad.reason+", put right", func(t *testing.T) { w.In(t).Ready(bad.name, 1) })
	}
	h := account.Of(w).Holds()
	if len(h.Groups) != len(badInputs)+2 || len(h.Instances) != len(badInputs)+2 {
		t.Errorf("want one group for each pool and the foreign one, and two instances for the good one, got %v", h)
	}
	if !slices.Contains(h.Groups, "theirs") || !slices.Contains(h.Groups, "ours") {
		t.Errorf("want the foreign group left alone, and ours beside it, got %v", h.Groups)
	}
}

// copyBootstrapData makes a secret of the good pool's bootstrap data, changed.
func copyBootstrapData(w *world.World, name string, change func(string) string) {
	w.T.Helper()
	data := w.Read("{.data.value}", "secret/capa-mp-0")
	if change != nil {
		text, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			w.T.Fatal(err)
		}
		data = base64.StdEncoding.EncodeToString([]byte(change(string(text))))
	}
	w.Apply(fmt.Sprintf(`{"apiVersion":"v1","kind":"Secret","type":"cluster.x-k8s.io/secret","metadata":{"name":%q,"namespace":"default",
		"labels":{"cluster.x-k8s.io/cluster-name":"capa"}},"data":{"value":%q}}`, name, data))
}

// makeForeignGroup makes a group without an owner tag.
func makeForeignGroup(w *world.World) {
	w.T.Helper()
	cloud := account.Of(w)
	_, err := cloud.EC2.CreateLaunchTemplate(w.T.Context(), &ec2.CreateLaunchTemplateInput{LaunchTemplateName: aws.String("theirs-template"),
		LaunchTemplateData: launchTemplateData(w.T.Context(), w, cloud)})
	if err != nil {
		w.T.Fatal(err)
	}
	_, err = cloud.Scaling.CreateAutoScalingGroup(w.T.Context(), &autoscaling.CreateAutoScalingGroupInput{
		AutoScalingGroupName: aws.String("theirs"), MinSize: aws.Int32(0), MaxSize: aws.Int32(1), VPCZoneIdentifier: aws.String(simaws.SubnetID),
		LaunchTemplate: &autoscalingtypes.LaunchTemplateSpecification{LaunchTemplateName: aws.String("theirs-template"),
			Version: aws.String("1")},
	})
	if err != nil {
		w.T.Fatal(err)
	}
}
