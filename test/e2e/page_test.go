package e2e

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/muster-project/muster/test/browser"
	"github.com/muster-project/muster/test/e2e/world"
)

// TestPage holds what a person sees on the page of a world, while things go wrong in it one after another.
func TestPage(t *testing.T) {
	t.Parallel()
	world.NeedsBinary(t)
	p := &pageReader{b: browser.Open(t, 1400, 900)}
	p.World = world.Start(t, t.TempDir())
	p.address = p.Printed(`(?m)\APage: (\S+)$`)
	p.Ready("capa-mp-0", 2)
	p.b.Go(p.address)
	p.b.WaitText("1 pool, 2 of 2 machines ready")
	p.b.Click("a[href='/pools/default/capa-mp-0']")
	p.b.WaitText("2 of 2 machines are Ready")
	for _, step := range []struct {
		name string
		see  func(*pageReader)
	}{
		{"BlockedRollout", seesBlockedRollout},
		{"BlockedScaleIn", seesBlockedScaleIn},
		{"MissingImage", seesMissingImage},
		{"FailedImage", seesFailedImage},
		{"Faults", seesFaults},
		{"UnreachableCluster", seesUnreachableCluster},
	} {
		if !t.Run(step.name, func(t *testing.T) { step.see(p.in(t)) }) {
			return
		}
	}
	for _, line := range p.b.Console() {
		if strings.Contains(line, "Security Policy") {
			t.Errorf("want no violation of the policy, got %s", line)
		}
	}
}

// pageReader looks at the page of a world.
type pageReader struct {
	*world.World
	b       *browser.Browser
	address string
}

func (p *pageReader) in(t *testing.T) *pageReader {
	return &pageReader{World: p.In(t), b: p.b.In(t), address: p.address}
}

// sees waits until the page shows each of the texts.
func (p *pageReader) sees(texts ...string) {
	p.T.Helper()
	for _, text := range texts {
		p.b.WaitText(text)
	}
}

// rests waits until the page shows a pool with so many machines, all Ready and without anything to do.
func (p *pageReader) rests(machines int) {
	p.T.Helper()
	p.b.Wait(fmt.Sprintf("document.querySelector('.sentence').textContent === '%[1]d of %[1]d machines are Ready' && "+
		"document.querySelectorAll('.tile').length === %[1]d && document.querySelectorAll('.tile.ready.new').length === %[1]d", machines))
}

// change patches the machine template of the pool.
func (p *pageReader) change(template string) {
	p.T.Helper()
	p.Kubectl("patch", "awsmachinepool/capa-mp-0", "--type=merge", "-p", `{"spec":{"awsLaunchTemplate":`+template+`}}`)
}

// web runs a pod on each of two nodes, neither of which may go.
func (p *pageReader) web() {
	p.T.Helper()
	p.ApplyTo("capa", strings.NewReplacer("replicas: 5", "replicas: 2", "minAvailable: 5", "minAvailable: 2").Replace(budgetManifest))
	p.Workload("capa", "wait", "deployment/web", "--for=condition=Available", "--timeout", world.WaitLimit.String())
}

// seesBlockedRollout sees which machine a rollout drains, which pod and budget keep it, which machine goes next and why, and the end.
func seesBlockedRollout(p *pageReader) {
	p.web()
	p.change(`{"instanceType":"m5.xlarge"}`)
	p.sees("spec.awsLaunchTemplate.instanceType", "Draining", "PodDisruptionBudget web", "Goes now", "Goes in wave", "RolloutStarted")
	p.b.Screenshot("live-blocked-drain")
	p.Workload("capa", "delete", "poddisruptionbudget/web")
	p.sees("RolloutCompleted")
	p.rests(2)
}

// seesBlockedScaleIn sees which machine a smaller pool gives up, that it is drained, and which budget keeps its pod.
func seesBlockedScaleIn(p *pageReader) {
	p.web()
	p.Kubectl("scale", "machinepool/capa-mp-0", "--replicas=1")
	p.sees("1 pod to evict", "PodDisruptionBudget web", "Goes now", "the pool wants 1")
	if text := p.b.Text(); strings.Contains(text, "Goes in wave") {
		p.T.Errorf("want no waves of a rollout for a scale-in, got\n%s", text)
	}
	p.b.Screenshot("live-blocked-scale-in")
	p.b.Go(p.address)
	p.sees("PodDisruptionBudget")
	p.b.Go(p.address + "pools/default/capa-mp-0")
	p.Workload("capa", "delete", "poddisruptionbudget/web")
	p.rests(1)
}

// seesMissingImage sees the cloud's words about an image that does not exist, on the pool and among what the cloud refuses.
func seesMissingImage(p *pageReader) {
	const words = "ami-00000000"
	p.change(`{"ami":{"id":"ami-00000000"}}`)
	p.sees(words)
	p.b.Screenshot("live-missing-image")
	for _, path := range []string{"", "accounts"} {
		p.b.Go(p.address + path)
		p.sees(words)
	}
	p.b.Go(p.address + "pools/default/capa-mp-0")
	p.change(`{"ami":{"id":null}}`)
	p.rests(1)
}

// seesFailedImage sees that a rollout whose new machines never join is halted, which machine halted it, and that it goes on with a template
// whose machines join.
func seesFailedImage(p *pageReader) {
	p.Kubectl("annotate", "awsmachinepool/capa-mp-0", "muster.dev/progress-deadline=15s")
	p.Admin("POST", "faults", `{"kind":"never-boots"}`, nil)
	p.change(`{"instanceType":"m5.large"}`)
	p.sees("RolloutHalted", "has not joined the cluster in time", "no node")
	p.b.Screenshot("live-failed-image")
	p.b.Go(p.address + "?state=Error")
	p.sees("has not joined the cluster in time")
	p.b.Wait("document.querySelector('#lines tr.problem')")
	p.b.Screenshot("live-failed-image-fleet")
	p.b.Go(p.address + "pools/default/capa-mp-0")
	p.Admin("DELETE", "faults", "", nil)
	p.Kubectl("annotate", "awsmachinepool/capa-mp-0", "muster.dev/progress-deadline-", "muster.dev/join-deadline=30s")
	p.change(`{"instanceType":"m5.2xlarge"}`)
	p.rests(1)
}

// seesFaults sees the calls to the cloud, what rate budgets have left, and a fault that a button plays.
func seesFaults(p *pageReader) {
	p.b.Go(p.address + "accounts")
	p.sees("autoscaling DescribeAutoScalingGroups", "Rate budgets", "ec2 DescribeLaunchTemplates")
	p.b.Click("section#aws button")
	p.sees("Faults in force")
	p.Admin("DELETE", "faults", "", nil)
}

// seesUnreachableCluster sees that the page is stale while its server is away, and then that the workload cluster does not answer.
func seesUnreachableCluster(p *pageReader) {
	p.b.Go(p.address + "pools/default/capa-mp-0")
	p.sees("Live")
	kubeconfig, err := base64.StdEncoding.DecodeString(p.Read("{.data.value}", "secret/capa-kubeconfig"))
	if err != nil {
		p.T.Fatal(err)
	}
	// Port 1 serves nothing. Without its owner the local control plane leaves the Secret alone.
	nowhere := regexp.MustCompile(`server: \S+`).ReplaceAll(kubeconfig, []byte("server: https://127.0.0.1:1"))
	p.Kubectl("patch", "secret/capa-kubeconfig", "--type=merge", "-p", fmt.Sprintf(`{"metadata":{"ownerReferences":null},"data":{"value":%q}}`,
		base64.StdEncoding.EncodeToString(nowhere)))
	p.KillChild("controllers")
	p.sees("Stale", "Live", "The workload cluster does not answer", "no machine is replaced or removed", "ConnectionDown")
	p.b.Wait("document.querySelector('.tile.unknown') && !document.querySelector('.tile.ready')")
	if text := p.b.Text(); strings.Contains(text, "Goes now") {
		p.T.Errorf("want no machine that goes now, got\n%s", text)
	}
	p.b.Screenshot("live-unreachable-cluster")
	p.b.Go(p.address)
	p.sees("the workload cluster does not answer, so nothing is known about nodes and none is removed")
}
