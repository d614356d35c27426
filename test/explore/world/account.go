package world

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/cloud/wire"
	"github.com/muster-project/muster/sim"
	simaws "github.com/muster-project/muster/sim/aws"
	simazure "github.com/muster-project/muster/sim/azure"
	"github.com/muster-project/muster/test/explore/oracle"
)

// tagOwner is the tag that carries the owner ID, as the project promises it.
const tagOwner = "muster.dev/owner"

// account is the simulated cloud, with what watches the wire to it.
type account struct {
	world *World
	// server is the cloud, which is one of the two behind it.
	server simulator
	aws    *simaws.Server
	azure  *simazure.Cloud
	// byHand are clients of people and other programs.
	byHand    *autoscaling.Client
	byHandEC2 *ec2.Client
	byHandEKS *eks.Client
	byHandIAM *iam.Client
	// manager is what the manager asks with.
	manager awssdk.CredentialsProvider
	// owner is who the pool's objects were last seen to belong to.
	owner cloud.Owner
	// calls counts requests, steps what they were for.
	calls int
	steps map[string]Cost
	// lately are the moments of the last writes, by their kind.
	lately map[string][]time.Time
	// accepted are the moments at which writes were accepted last, by all that they say.
	accepted map[string][]time.Time
	// disowned is when a user took the owner tag off the pool's group: for a moment not every reader can see that.
	disowned time.Time
	// owned is when the user gave it back, which is seen as late.
	owned time.Time
	// moved is when a user changed the group's size or bounds by hand, which for a moment not every reader can see either:
	// a removal that was right for the size before it may then leave one machine too few, until the next look.
	moved time.Time
	// autoscaled are the sizes of the group that the autoscaler has changed.
	autoscaled []autoscaled
	// wrote is when each manager wrote last. What it did another that works beside it may not have read yet.
	wrote map[*process]time.Time
	// rewritten is when a user changed versions of the pool's template, which is read again within minutes only.
	rewritten time.Time
	// notes are what others put onto our group and that has to stay there.
	notes map[string]string
	// ledger is who serves, contents what each version of a template makes, by "template version".
	ledger   ledger
	contents map[string]string
}

// simulator is a simulated cloud, whichever it is.
type simulator interface {
	http.Handler
	Faults() *sim.Faults
	Close() error
}

// inPages makes the cloud answer lists with one item a page in every third scenario, so that a fault of a later page leaves a list of which
// a part is known.
func (a *account) inPages(s Scenario) {
	if s.Seed%3 == 1 {
		a.world.must(a.server.Faults().Add(sim.Fault{Kind: sim.PageLimit, Limit: 1}), "make pages small")
	}
}

// inForce are the cloud's faults that something may be put down to: not that pages are small.
func (a *account) inForce() []sim.PlayedFault {
	return slices.DeleteFunc(a.server.Faults().List(), func(f sim.PlayedFault) bool { return f.Kind == sim.PageLimit })
}

func newAccount(w *World) *account {
	a := &account{world: w, steps: map[string]Cost{}, lately: map[string][]time.Time{}, accepted: map[string][]time.Time{}, notes: map[string]string{}, ledger: ledger{}, contents: map[string]string{}}
	if w.scenario.InAzure() {
		made, err := simazure.New(simazure.Options{Seed: w.scenario.Seed, Speed: w.scenario.Speed, MachineHost: w.workload, LiveTags: w.scenario.LiveTags})
		w.must(err, "make the simulator")
		a.server, a.azure = made, made
		a.inPages(w.scenario)
		return a
	}
	server, err := simaws.New(simaws.Options{Seed: w.scenario.Seed, Speed: w.scenario.Speed, MachineHost: w.workload})
	w.must(err, "make the simulator")
	a.server, a.aws = server, server
	a.inPages(w.scenario)
	settings := config()
	a.manager = settings.Credentials
	if w.options.Credentials != nil {
		a.manager, err = w.options.Credentials(server)
		w.must(err, "make the manager's credentials")
	}
	settings.HTTPClient = &http.Client{Transport: sim.Transport{Handler: server}}
	a.byHand, a.byHandEC2 = autoscaling.NewFromConfig(settings), ec2.NewFromConfig(settings)
	a.byHandEKS, a.byHandIAM = eks.NewFromConfig(settings), iam.NewFromConfig(settings)
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

// line is a process's connection to the cloud.
type line struct{ p *process }

// RoundTrip carries one request of the driver, and lets the oracles look at every write.
func (l line) RoundTrip(req *http.Request) (*http.Response, error) {
	w, call := l.p.world, wire.CallFrom(req.Context())
	if l.p.dead {
		return nil, errKilled
	}
	w.account.calls++
	if !isWrite(call.Operation) || w.scenario.InAzure() && req.Method == http.MethodGet {
		reply, err := sim.Transport{Handler: w.account.server}.RoundTrip(req)
		w.trace.add("call", "%s%s -> %s", l.p.name, call, ending(reply, err))
		return reply, err
	}
	words, named, err := w.account.inWords(call.Service, req)
	if err != nil {
		return nil, err
	}
	if err := l.p.begin(call.String()); err != nil {
		return nil, err
	}
	w.account.count(call.String(), req)
	reply, err := w.account.write(l.p, call, words, named, req)
	if killed := l.p.finish(call.String()); killed != nil {
		if err == nil {
			_ = reply.Body.Close()
		}
		return nil, killed
	}
	return reply, err
}

// Not more than stormMost writes of one kind are sent within stormSpell, whatever the cloud says to them. Of those that change one virtual
// machine each, not more than stormEach are sent for one of them.
const (
	stormMost, stormEach = 60, 30
	stormSpell           = 5 * time.Minute
)

// count blames one write too many of a kind.
func (a *account) count(call string, req *http.Request) {
	most := stormMost
	if strings.HasSuffix(call, "VirtualMachineScaleSetVMs.Update") {
		call, most = call+" "+req.URL.Path, stormEach
	}
	now := time.Now()
	recent := slices.DeleteFunc(a.lately[call], func(at time.Time) bool { return now.Sub(at) > stormSpell })
	a.lately[call] = append(recent, now)
	if len(recent) == most {
		a.world.blame("storm", "%s was sent more than %d times within %s", call, most, stormSpell)
		a.lately[call] = nil
	}
}

// write sends a write and has it judged.
func (a *account) write(p *process, call wire.Call, words string, named []string, req *http.Request) (*http.Response, error) {
	w := a.world
	before, nodes := a.snapshot(), w.workload.truth()
	a.look(before, nodes, nil)
	lost, risen := a.ledger.lately(time.Now(), p.late())
	reply, err := sim.Transport{Handler: a.server}.RoundTrip(req)
	w.trace.add("call", "%s%s %s -> %s", p.name, call, words, ending(reply, err))
	after := a.snapshot()
	a.look(after, nodes, named)
	if err == nil && reply.StatusCode < http.StatusMultipleChoices {
		after = a.foretold(call.Operation, req, after)
		a.repeat(call.String() + " " + words)
		if call.Operation == "CreateNodegroup" {
			a.notes = map[string]string{} // no user has put anything onto the new one
		}
	}
	a.judge(oracle.Write{
		At: time.Now(), Call: call.String(), Named: named, Before: before, After: after, Nodes: nodes, Wanted: p.wanted, Unseen: 2 * unseen,
		Moved: !a.moved.IsZero() && time.Since(a.moved) < p.late() || a.rivals(p), Lost: lost, Risen: risen, Autoscaled: a.autoscaledLately(p.late()),
		Rolls:  call.Operation == "StartInstanceRefresh" || call.Operation == "UpdateNodegroupVersion",
		Forces: call.Operation == "UpdateNodegroupVersion" && strings.Contains(words, `"force":true`), Shrinks: a.azure != nil,
	})
	if a.wrote == nil {
		a.wrote = map[*process]time.Time{}
	}
	a.wrote[p] = time.Now()
	return reply, err
}

// rivals is true if another manager wrote so lately that this one may have read what was before.
func (a *account) rivals(p *process) bool {
	return slices.ContainsFunc(a.world.processes, func(other *process) bool {
		at, wrote := a.wrote[other]
		return other != p && wrote && time.Since(at) < p.late()
	})
}

func isWrite(operation string) bool {
	return !strings.HasPrefix(operation, "Describe") && !strings.HasPrefix(operation, "Get") && !strings.HasPrefix(operation, "List")
}

// told are the parameters of a write that a trace shows; of all of them it shows a hash.
var told = []string{
	"AutoScalingGroupName", "DesiredCapacity", "MinSize", "MaxSize", "InstanceId", "ShouldDecrementDesiredCapacity", "VPCZoneIdentifier",
	"LaunchTemplate.Version", "LaunchTemplateName", "VersionDescription", "LaunchTemplateVersion.1", "LaunchTemplateVersion.2", "LifecycleHookName",
	"Tags.member.1.Key", "DefaultCooldown", "RoleName", "PolicyArn",
}

func (a *account) judge(w oracle.Write) {
	for _, check := range oracle.Checks() {
		if check.Name == "told" && len(a.world.processes) > 1 {
			continue // another version may have come between
		}
		if check.Name == "foreign" && recent(a.disowned) || check.Name == "unwanted removal" && recent(a.moved) {
			continue
		}
		a.world.blameAll(check.Name, check.Of(w))
	}
}

// recently reports whether a user moved the size so lately that not every reader can know.
func (a *account) recently() bool { return recent(a.moved) || recent(a.disowned) }

// recent reports whether what was done then may not be visible to every reader yet.
func recent(at time.Time) bool { return !at.IsZero() && time.Since(at) < unseen }

// snapshot is what exists, in the oracles' words.
func (a *account) snapshot() oracle.Cloud {
	if a.azure != nil {
		return a.subscription()
	}
	state := a.aws.State(simaws.AccountID, simaws.Region)
	there, groupOf := newThere(state), map[string]string{}
	var c oracle.Cloud
	c.Groups, c.Roles = a.nodegroups(state, there), a.roles(state)
	eks := ofEKS(state)
	for _, g := range state.Groups {
		if !eks[g.Name] {
			c.Groups = append(c.Groups, a.group(g, there))
		}
	}
	for _, g := range c.Groups {
		for _, m := range g.Members {
			groupOf[m.ID] = g.Name
		}
	}
	for _, t := range state.Templates {
		if eks[t.ID] {
			continue
		}
		print := fmt.Sprintf("%v %v", t.Tags, t.Versions)
		c.Templates = append(c.Templates, oracle.Template{ID: t.ID, Name: t.Name, Owner: t.Tags[tagOwner], Print: print, Tags: t.Tags, Untagged: fmt.Sprint(t.Versions), Versions: a.versions(t, there)})
		a.world.secrets("a launch template's tags and descriptions", print)
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

// find is the group of that name as it is, nil when there is none.
func (a *account) find(name string) *simaws.Group {
	groups := a.aws.State(simaws.AccountID, simaws.Region).Groups
	if at := slices.IndexFunc(groups, func(g simaws.Group) bool { return g.Name == name && !g.Deleting }); at >= 0 {
		return &groups[at]
	}
	return nil
}

// hands is how often a user tries until the cloud does what the user wants: faults meet users too.
const hands = 12

// hand does something as a person would, who tries again.
func (a *account) hand(do func(context.Context) error) error {
	var err error
	for range hands {
		if err = do(a.world.t.Context()); err == nil {
			return nil
		}
		time.Sleep(handPause)
	}
	return err
}

const handPause = 500 * time.Millisecond
