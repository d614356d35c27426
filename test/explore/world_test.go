package explore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"

	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	"github.com/muster-project/muster/test/explore/oracle"
)

// tagOwner is the tag that carries the owner ID, as the project promises it.
const tagOwner = "muster.dev/owner"

// account is the simulated cloud, with what watches the wire to it.
type account struct {
	t      *testing.T
	server *simaws.Server
	// byHand are clients of people and other programs.
	byHand    *autoscaling.Client
	byHandEC2 *ec2.Client
	trace     *trace
	workload  *workload
	// wanted is what the object asked for when the pass began.
	wanted oracle.Wanted
	// crashAt counts down the writes to the one at which the process dies, right before or right after it; 0 is never.
	crashAt     int
	crashBefore bool
	dead        bool
	// calls and writes that were sent; sent are the writes since it was asked last.
	calls, faults int
	sent          []string
	wrong         []string
	// disowned is when somebody took the owner tag off our group: for a moment not everybody can see that.
	disowned time.Time
}

func newAccount(t *testing.T, s scenario, tr *trace, w *workload) *account {
	server, err := simaws.New(simaws.Options{Seed: s.seed, Speed: s.speed, Guests: w})
	if err != nil {
		t.Fatal(err)
	}
	a := &account{t: t, server: server, trace: tr, workload: w}
	settings := config()
	settings.HTTPClient = &http.Client{Transport: sim.Transport{Handler: server}}
	a.byHand, a.byHandEC2 = autoscaling.NewFromConfig(settings), ec2.NewFromConfig(settings)
	return a
}

func config() awssdk.Config {
	return awssdk.Config{
		Region:       simaws.Region,
		Credentials:  credentials.NewStaticCredentialsProvider(simaws.AccessKeyID, simaws.SecretAccessKey, ""),
		BaseEndpoint: awssdk.String("http://simulated.aws"),
		Retryer:      func() awssdk.Retryer { return awssdk.NopRetryer{} },
	}
}

var errKilled = errors.New("the process has ended")

// RoundTrip carries one request of the driver, and lets the oracles look at every write.
func (a *account) RoundTrip(req *http.Request) (*http.Response, error) {
	call := wire.Of(req.Context())
	if a.dead {
		return nil, errKilled
	}
	a.calls++
	write := isWrite(call.Operation)
	if !write {
		reply, err := sim.Transport{Handler: a.server}.RoundTrip(req)
		a.trace.add("call", "%s -> %s", call, ending(reply, err))
		return reply, err
	}
	words, named, err := inWords(req)
	if err != nil {
		return nil, err
	}
	a.crashAt--
	if a.crashAt == 0 && a.crashBefore {
		return nil, a.crash("before", call)
	}
	before, nodes := a.snapshot(), a.workload.truth()
	reply, err := sim.Transport{Handler: a.server}.RoundTrip(req)
	a.trace.add("call", "%s %s -> %s", call, words, ending(reply, err))
	a.sent = append(a.sent, call.String())
	a.judge(oracle.Write{
		At: time.Now(), Call: call.String(), Named: named, Before: before, After: a.snapshot(), Nodes: nodes, Wanted: a.wanted, Unseen: 2 * unseen,
	})
	if a.crashAt == 0 {
		if err == nil {
			_ = reply.Body.Close()
		}
		return nil, a.crash("after", call)
	}
	return reply, err
}

// crash ends the process in the middle of what it does.
func (a *account) crash(when string, call wire.Call) error {
	a.dead = true
	a.faults++
	a.workload.die()
	a.trace.add("crash", "right %s %s", when, call)
	return errKilled
}

func isWrite(operation string) bool {
	return !strings.HasPrefix(operation, "Describe") && !strings.HasPrefix(operation, "Get")
}

// told are the parameters of a write that a trace shows.
var told = []string{
	"AutoScalingGroupName", "DesiredCapacity", "MinSize", "MaxSize", "InstanceId", "ShouldDecrementDesiredCapacity", "VPCZoneIdentifier",
	"LaunchTemplate.Version", "LaunchTemplateName", "VersionDescription", "LaunchTemplateVersion.1", "LaunchTemplateVersion.2", "LifecycleHookName",
	"Tags.member.1.Key", "DefaultCooldown",
}

// inWords is what a write asks for, without its secrets, and which instances it names.
func inWords(req *http.Request) (text string, named []string, err error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return "", nil, fmt.Errorf("read the request: %w", err)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return "", nil, fmt.Errorf("read the request: %w", err)
	}
	var words []string
	for _, name := range told {
		if form.Has(name) {
			words = append(words, name+"="+form.Get(name))
		}
	}
	switch form.Get("Action") {
	case "TerminateInstanceInAutoScalingGroup":
		named = []string{form.Get("InstanceId")}
	case "UpdateAutoScalingGroup", "SetDesiredCapacity":
		named = []string{} // nobody goes by these calls themselves; what the cloud does about a lower size comes later
	}
	return strings.Join(words, " "), named, nil
}

var errorCode = regexp.MustCompile(`<Code>([^<]*)</Code>`)

// ending is how a call ended, in words.
func ending(reply *http.Response, err error) string {
	if err != nil {
		return "no reply"
	}
	if reply.StatusCode < 300 {
		return "ok"
	}
	body, _ := io.ReadAll(reply.Body)
	reply.Body = io.NopCloser(bytes.NewReader(body))
	code := "?"
	if found := errorCode.FindSubmatch(body); found != nil {
		code = string(found[1])
	}
	return fmt.Sprintf("%d %s", reply.StatusCode, code)
}

func (a *account) judge(w oracle.Write) {
	for _, check := range oracle.Checks() {
		if check.Name == "foreign" && time.Since(a.disowned) < unseen && !a.disowned.IsZero() {
			continue
		}
		for _, text := range check.Of(w) {
			a.blame(check.Name + ": " + text)
		}
	}
}

// blame notes a violation.
func (a *account) blame(text string) {
	a.trace.add("WRONG", "%s", text)
	a.wrong = append(a.wrong, text)
}

// since gives the writes that were sent since it was asked last.
func (a *account) since() []string {
	list := a.sent
	a.sent = nil
	return list
}

// snapshot is what exists, in the oracles' words.
func (a *account) snapshot() oracle.Cloud {
	state := a.server.State(simaws.AccountID, simaws.Region)
	launched, groupOf := map[string]time.Time{}, map[string]string{}
	for _, i := range state.Instances {
		launched[i.ID] = i.Launched
	}
	var c oracle.Cloud
	for _, g := range state.Groups {
		c.Groups = append(c.Groups, a.group(g, launched))
		for _, m := range g.Members {
			groupOf[m.Instance] = g.Name
		}
	}
	for _, t := range state.Templates {
		c.Templates = append(c.Templates, oracle.Template{ID: t.ID, Name: t.Name, Owner: t.Tags[tagOwner], Print: fmt.Sprintf("%v %v", t.Tags, t.Versions)})
		for _, text := range t.Versions {
			a.wrong = append(a.wrong, oracle.Secret("a version's description", text, a.workload.tokens())...)
		}
	}
	for _, i := range state.Instances {
		if i.State == "terminated" {
			continue
		}
		c.Instances = append(c.Instances, oracle.Instance{
			ID: i.ID, Owner: i.Tags[tagOwner], Group: groupOf[i.ID], Leaving: i.State == "shutting-down",
		})
	}
	return c
}

func (a *account) group(g simaws.Group, launched map[string]time.Time) oracle.Group {
	out := oracle.Group{
		Name: g.Name, Owner: g.Tags[tagOwner], Template: g.Template, Min: g.Min, Max: g.Max, Size: g.Desired, Deleting: g.Deleting,
		Print: fmt.Sprintf("%d..%d=%d %s:%s %v %v %v %v", g.Min, g.Max, g.Desired, g.Template, g.Version, g.Subnets, g.Tags, g.Suspended, g.Deleting),
	}
	for _, m := range g.Members {
		out.Members = append(out.Members, oracle.Member{
			ID: m.Instance, Leaving: strings.HasPrefix(m.State, "Terminating"), Launched: launched[m.Instance],
		})
	}
	a.wrong = append(a.wrong, oracle.Secret("a group's tags", out.Print, a.workload.tokens())...)
	return out
}

// find is the group of that name as it is, nil when there is none.
func (a *account) find(name string) *simaws.Group {
	groups := a.server.State(simaws.AccountID, simaws.Region).Groups
	if at := slices.IndexFunc(groups, func(g simaws.Group) bool { return g.Name == name && !g.Deleting }); at >= 0 {
		return &groups[at]
	}
	return nil
}

// hands is how often somebody tries until the cloud does what he wants: faults are for everybody.
const hands = 12

// hand does something as a person would, who tries again.
func (a *account) hand(do func(context.Context) error) error {
	var err error
	for range hands {
		if err = do(a.t.Context()); err == nil {
			return nil
		}
		time.Sleep(500 * time.Millisecond)
	}
	return err
}

// calm takes all faults out of force.
func (a *account) calm() {
	for _, f := range a.server.Faults().List() {
		a.faults += f.Played
	}
	a.server.Faults().Clear()
}
