package report_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/cloud"
	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/engine/report"
	"github.com/muster-project/muster/pool"
)

// What may be wrong, as a person would say it.
var (
	denied = &cloud.Error{Kind: cloud.Denied, Op: "autoscaling:X", Code: "AccessDenied", Message: "not authorized"}
	// ineffective is a change that the cloud accepted and that shows no effect.
	ineffective error = &engine.NoEffectError{Kind: pool.UpdateGroup, Items: []string{"spec.defaultInstanceWarmup"}}
	invalid           = &cloud.Error{Kind: cloud.Invalid, Op: "ec2:X", Field: "spec.awsLaunchTemplate.ami", Code: "InvalidAMIID.NotFound",
		Message: "no such image"}
)

type row struct {
	name, why string
	change    func(*scene)
	want      string
}

// hold checks one condition of each row.
func hold(t *testing.T, condition string, rows []row) {
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got := "absent"
			for _, c := range aScene(r.change).report().Conditions {
				if c.Type == condition {
					got = fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
				}
			}
			if got != r.want {
				t.Errorf("%s:\nwant %s\n got %s", r.why, r.want, got)
			}
		})
	}
}

func TestTemplateReady(t *testing.T) {
	hold(t, report.TemplateReady, []row{
		{"as wanted", "the version is named, so that people find it", and(),
			"True UpToDate: launch template lt-1:1 is what the specification asks for"},
		{"missing", "it is being made", and(noGroup, noTemplate), "False TemplateMissing: the launch template is being created"},
		{"changed", "machines are made from the old one until there is a new one", wanted("v1:b", "d"),
			"False TemplateChanged: a new version of the launch template is being created"},
		{"bootstrap data changed", "a rotated token is no change of what the specification asks for", wanted("v1:a", "e"),
			"True UpToDate: launch template lt-1:1 is what the specification asks for"},
		{"bootstrap data changed, held", "nor while something else is waited for", and(held, wanted("v1:a", "e")),
			"True UpToDate: launch template lt-1:1 is what the specification asks for"},
		{"bootstrap data changed, refused", "a refusal is one, whatever was asked for",
			and(wanted("v1:a", "e"), refused(pool.PutTemplate, denied)), "False Denied: autoscaling:X: AccessDenied: not authorized"},
		{"held", "what holds it up is the reason", and(noGroup, noTemplate, held, wanted("", "")),
			"False ClusterNotReady: waiting for the cluster's network"},
		{"unknown, with the cloud's words", "they say why", and(wanted("", ""), issue), "False Capacity: no m5.large left in zone a"},
		{"unknown", "nothing is made up", wanted("", ""), "Unknown TemplateUnknown: the inputs of the launch template are not known"},
		{"refused", "the cloud's refusal stands before what is being done about it", and(wanted("v1:b", "d"), refused(pool.PutTemplate, invalid)),
			"False Invalid: ec2:X: spec.awsLaunchTemplate.ami: InvalidAMIID.NotFound: no such image"},
		{"without effect", "what the cloud keeps is not what it was asked for", and(wanted("v1:b", "d"), refused(pool.PutTemplate, ineffective)),
			"False NoEffect: " + ineffective.Error()},
		{"default without effect", "machines are launched from the right version all the same", refused(pool.DefaultTemplate, ineffective),
			"True UpToDate: launch template lt-1:1 is what the specification asks for; " + ineffective.Error()},
		{"another step refused", "it has a condition of its own", refused(pool.Resize, denied),
			"True UpToDate: launch template lt-1:1 is what the specification asks for"},
		{"not asked", "unknown is shown as unknown", unseen, "Unknown NotObserved: the cloud was not asked yet"},
		{"held, not asked", "the reason is known without asking", and(unseen, held), "False ClusterNotReady: waiting for the cluster's network"},
		{"denied", "the error is told once, in GroupReady", failing(denied), "Unknown Denied: not observed: GroupReady says why"},
		{"invalid", "a specification that can't be met is known to be not ready", failing(invalid),
			"False Invalid: not observed: GroupReady says why"},
		{"no answer", "an error that no cloud gave has a word too", failing(errors.New("connection refused")),
			"Unknown Failed: not observed: GroupReady says why"},
		{"part of the group, no group", "what is created with the group is not there before", and(inline, noGroup,
			refused(pool.CreateGroup, denied)), "False TemplateMissing: the model is created with the scale set"},
		{"brought", "whose it is not is said", given,
			"True UpToDate: launch template lt-1:1, which Muster does not manage, is what the specification asks for"},
		{"made by the cloud", "of what is said", and(given, func(s *scene) { s.o.Versions[0].ByCloud = true }),
			"True UpToDate: launch template lt-1:1, which the cloud makes of the settings of the Auto Scaling group, is what the " +
				"specification asks for"},
		{"brought, not there", "it is not created", and(given, wanted("v1:b", ""), func(s *scene) { s.o.Wanted.UserManaged = true }),
			"False TemplateNotFound: the launch template that the specification names does not exist, or can't be seen yet"},
		{"bootstrap data, rolls of changes alone", "nothing would launch from a version for it", and(changes, wanted("v1:a", "e")),
			"True UpToDate: launch template lt-1:1 is what the specification asks for"},
		{"deleting", "a pool that goes wants no template", deleting, "absent"},
	})
}

func TestGroupReady(t *testing.T) {
	hold(t, report.GroupReady, []row{
		{"as wanted", "the plain case", and(), "True UpToDate: the Auto Scaling group is what the specification asks for"},
		{"missing", "it is being made", noGroup, "False GroupMissing: the Auto Scaling group is being created"},
		{"held", "what holds it up is the reason", and(noGroup, held), "False ClusterNotReady: waiting for the cluster's network"},
		{"held, but there", "what exists is judged as ever", held, "True UpToDate: the Auto Scaling group is what the specification asks for"},
		{"foreign", "it is not ours and never will be by itself", foreign, "False OwnershipConflict: Auto Scaling group x is not this pool's"},
		{"adopting", "the group is about to be the pool's", adopting, "False Adopting: Auto Scaling group x is being adopted"},
		{"adoption refused", "the cloud's words", and(adopting, refused(pool.Adopt, denied)),
			"False Denied: autoscaling:X: AccessDenied: not authorized"},
		{"out of bounds", "the field and the allowed values are named", replicas(99),
			"False ReplicasOutOfBounds: spec.replicas of the MachinePool is 99, allowed are 0 (spec.minSize) to 10 (spec.maxSize)"},
		{"being deleted", "a user deleted it by hand", groupGoes,
			"False GroupDeleting: the Auto Scaling group is being deleted and will be created again"},
		{"drift", "the fields are named", drift("spec.subnets", "spec.maxSize"),
			"False GroupChanged: the Auto Scaling group differs in spec.subnets, spec.maxSize"},
		{"not compared", "a field that can't be followed is no field that is equal", unresolved("Invalid", "spec.subnets[0].id: no subnet x"),
			"False Invalid: spec.subnets[0].id: no subnet x"},
		{"not answered", "nor is one that the cloud does not tell of", unresolved("Throttled", "ec2:DescribeSubnets: slow down"),
			"Unknown Throttled: ec2:DescribeSubnets: slow down"},
		{"template behind", "both versions are named", and(wanted("v1:b", "d"), newest(pool.Template{Ref: "lt-1:2", Content: "v1:b", Data: "d"})),
			"False TemplateOutOfDate: the Auto Scaling group launches from lt-1:1, the newest is lt-1:2"},
		{"template unknown behind", "of a version that was deleted nothing is known",
			and(newest(pool.Template{Ref: "lt-1:2", Content: "v1:a", Data: "d"}), func(s *scene) { s.o.Versions = s.o.Versions[:1] }),
			"False TemplateOutOfDate: the Auto Scaling group launches from lt-1:1, the newest is lt-1:2"},
		{"bootstrap data behind", "the version before launches the same machines", and(wanted("v1:a", "e"), newest(rotated)),
			"True UpToDate: the Auto Scaling group is what the specification asks for"},
		{"scaling", "both sizes are named", replicas(5), "False Scaling: the Auto Scaling group has a size of 3, the pool wants 5"},
		{"sized elsewhere", "whatever its size, it is right", and(external, replicas(5)),
			"True UpToDate: the Auto Scaling group is what the specification asks for"},
		{"size refused", "the cloud's words", and(replicas(5), refused(pool.Resize, denied)),
			"False Denied: autoscaling:X: AccessDenied: not authorized"},
		{"creation refused", "the cloud's words", and(noGroup, refused(pool.CreateGroup, denied)),
			"False Denied: autoscaling:X: AccessDenied: not authorized"},
		{"missing, template refused", "no group is being made while its template is refused",
			and(noGroup, noTemplate, refused(pool.PutTemplate, denied)), "False Denied: autoscaling:X: AccessDenied: not authorized"},
		{"missing, template unknown", "nor while the specification can't be translated", and(noGroup, noTemplate, wanted("", ""), issue),
			"False Capacity: no m5.large left in zone a"},
		{"missing, template brought and not there", "nor without the template that the specification names",
			and(noGroup, noTemplate, func(s *scene) { s.o.Wanted.UserManaged = true }),
			"False TemplateNotFound: the launch template that the specification names does not exist, or can't be seen yet"},
		{"missing, template missing", "a template that is being made is a step on the way", and(noGroup, noTemplate),
			"False GroupMissing: the Auto Scaling group is being created"},
		{"missing, both refused", "the group's own refusal is its condition", and(noGroup, func(s *scene) {
			s.refused = map[pool.StepKind]error{pool.PutTemplate: invalid, pool.CreateGroup: denied}
		}), "False Denied: autoscaling:X: AccessDenied: not authorized"},
		{"removal refused", "the cloud's words", and(replicas(2), refused(pool.Remove, denied)),
			"False Denied: autoscaling:X: AccessDenied: not authorized"},
		{"without effect", "the field is named", and(drift("spec.defaultInstanceWarmup"), refused(pool.UpdateGroup, ineffective)),
			"False NoEffect: " + ineffective.Error()},
		{"without effect, and refused", "the refusal says more", and(replicas(5), drift("spec.defaultInstanceWarmup"), func(s *scene) {
			s.refused = map[pool.StepKind]error{pool.UpdateGroup: ineffective, pool.Resize: denied}
		}), "False Denied: autoscaling:X: AccessDenied: not authorized"},
		{"template refused", "it has a condition of its own", and(wanted("v1:b", "d"), refused(pool.PutTemplate, denied)),
			"True UpToDate: the Auto Scaling group is what the specification asks for"},
		{"denied", "its state is unknown", failing(denied), "Unknown Denied: autoscaling:X: AccessDenied: not authorized"},
		{"not asked", "unknown is shown as unknown", unseen, "Unknown NotObserved: the cloud was not asked yet"},
		{"surge", "what a rollout adds is as it should be", and(rolling, first(stale), size(4)),
			"True UpToDate: the Auto Scaling group is what the specification asks for"},
		{"more than the surge", "and no more than that", and(rolling, first(stale), size(5)),
			"False Scaling: the Auto Scaling group has a size of 5, the pool wants 3"},
		{"release refused", "the cloud's words", refused(pool.Release, denied), "False Denied: autoscaling:X: AccessDenied: not authorized"},
		{"failed", "the cloud's words before all that follows from it", and(failedGroup, busy, drift("tags"), size(2)),
			"False CreateFailed: Ec2SubnetInvalidConfiguration: no public address"},
		{"failed, change refused", "what the cloud refuses to do to such a group follows from its failure",
			and(failedGroup, drift("tags"), refused(pool.UpdateGroup, denied)),
			"False CreateFailed: Ec2SubnetInvalidConfiguration: no public address"},
		{"can't be changed", "which fields, and what to do", stiff,
			"False GroupUnchangeable: the Auto Scaling group differs in spec.subnetIDs, which can't be changed on one that exists: change the " +
				"specification back, or create another pool"},
		{"can't be changed, in the cloud's words", "what the user can do about it", and(stiff, func(s *scene) {
			s.o.Caveats = []pool.Cause{{Reason: "SizeUnchangeable", Message: "register the feature X"}}
		}), "False GroupUnchangeable: the Auto Scaling group differs in spec.subnetIDs, which can't be changed on one that exists: change the " +
			"specification back, or create another pool; register the feature X"},
		{"deferred", "the cloud takes the change only later, and the message says what it waits for", func(s *scene) {
			s.o.Group.Deferred = &pool.Cause{Reason: "ModePending", Message: "spec.mode waits for a machine"}
		}, "False ModePending: spec.mode waits for a machine"},
		{"busy", "what the cloud is doing", and(busy, drift("tags")), "False Updating: EKS is updating the node group"},
		{"busy with a roll", "that is reported where the machines are",
			and(changes, busy, first(stale), cloudRolls(pool.ProviderRolloutRunning, 40, "")),
			"True UpToDate: the Auto Scaling group is what the specification asks for"},
		{"pointed by the roll", "which template it launches from is the roll's matter",
			and(changes, first(stale), newest(pool.Template{Ref: "lt-1:2", Content: "v1:a", Data: "d"})),
			"True UpToDate: the Auto Scaling group is what the specification asks for"},
		{"deleting", "a pool that goes wants no group", deleting, "absent"},
	})
}

func TestNeedsReady(t *testing.T) {
	hold(t, report.PrerequisitesReady, []row{
		{"nothing is ever needed", "clouds whose groups need nothing do not speak of it", and(), "absent"},
		{"there", "the plain case", needing, "True UpToDate: the node role is up to date"},
		{"needed by other pools of the kind", "what this one does not ask for it does not speak of", and(needing, needless), "absent"},
		{"needless and missing", "what is wrong is told all the same", and(lacking, needless, noGroup),
			"False PrerequisiteMissing: the node role is being updated: role nodes-1, policy P"},
		{"missing", "what is being made", and(lacking, noGroup),
			"False PrerequisiteMissing: the node role is being updated: role nodes-1, policy P"},
		{"missing, held", "what holds it up", and(lacking, noGroup, held), "False ClusterNotReady: waiting for the cluster's network"},
		{"nothing known", "nothing is made up", and(needing, wanted("", ""), issue),
			"Unknown PrerequisitesUnknown: whether the node role is up to date is not known"},
		{"refused", "the cloud's words", and(lacking, refused(pool.EnsurePrerequisites, denied)),
			"False Denied: autoscaling:X: AccessDenied: not authorized"},
		{"not asked", "unknown is shown as unknown", and(needing, unseen), "Unknown NotObserved: the cloud was not asked yet"},
		{"deleting", "a pool that goes needs nothing", and(lacking, deleting), "absent"},
	})
}

func TestInstancesReady(t *testing.T) {
	hold(t, report.InstancesReady, []row{
		{"as wanted", "the plain case", and(), "True AllReady: 3 of 3 machines are Ready"},
		{"more than wanted", "who is still there does no harm", and(replicas(2), first(draining)),
			"True AllReady: 3 machines are Ready, 2 are wanted"},
		{"growing", "what is not there yet is counted", and(replicas(5), size(5)),
			"False InstancesLaunching: 3 of 5 machines are Ready; waiting for 2 machines to be launched"},
		{"not joined", "what is waited for is said", first(notJoined),
			"False NodesJoining: 2 of 3 machines are Ready; waiting for 1 machine to join the cluster"},
		{"never ready", "a node that was never Ready is joining", first(neverReady),
			"False NodesNotReady: 2 of 3 machines are Ready; waiting for the nodes of 1 machine to be Ready"},
		{"not ready", "a node that was Ready and is no more is not joining", first(unready),
			"False NodesNotReady: 2 of 3 machines are Ready; waiting for the nodes of 1 machine to be Ready"},
		{"pending", "the cloud is at work", first(pending),
			"False InstancesLaunching: 2 of 3 machines are Ready; waiting for 1 machine to be launched"},
		{"failed", "a machine that failed is not Ready, whatever its node says", first(broken),
			"False InstancesFailed: 2 of 3 machines are Ready; 1 machine failed and will be replaced"},
		{"failed, left alone", "what neither the cloud nor Muster replaces is the user's to start or delete", and(first(broken), leavesFailed),
			"False FailedLeft: 2 of 3 machines are Ready; 1 machine failed, and the Auto Scaling group leaves them as they are: start or delete " +
				"i-1 in the cloud, or change spec.policy"},
		{"failed, left alone, and an issue", "what the cloud says of others does not hide what only the user ends",
			and(first(broken), leavesFailed, issue),
			"False FailedLeft: 2 of 3 machines are Ready; 1 machine failed, and the Auto Scaling group leaves them as they are: start or delete " +
				"i-1 in the cloud, or change spec.policy"},
		{"failed, and its deletion requested", "it is replaced in any case", and(first(broken), first(requested), leavesFailed),
			"False InstancesFailed: 2 of 3 machines are Ready; 1 machine failed and will be replaced"},
		{"leaving", "nor is one on its way out", first(leaving),
			"False InstancesLaunching: 2 of 3 machines are Ready; waiting for 1 machine to be launched"},
		{"capacity", "the cloud's words come before our counting", and(first(pending), issue),
			"False Capacity: 2 of 3 machines are Ready; no m5.large left in zone a"},
		{"workload cluster away", "nothing is reported about nodes that can't be observed", away,
			"Unknown ConnectionDown: the workload cluster does not answer, so nothing is known about its nodes"},
		{"none wanted", "none is as many as wanted", func(s *scene) { s.d.Replicas, s.o.Group.Size, s.o.Instances = 0, 0, nil },
			"True AllReady: 0 of 0 machines are Ready"},
		{"sized elsewhere", "the group's own size counts", and(external, replicas(9)), "True AllReady: 3 of 3 machines are Ready"},
		{"no group", "nothing is there", noGroup, "False NotAllReady: 0 of 3 machines are Ready"},
		{"not asked", "unknown is shown as unknown", unseen, "Unknown NotObserved: the cloud was not asked yet"},
		{"deleting", "a pool that goes wants no machines", deleting, "absent"},
	})
}

func TestUpToDate(t *testing.T) {
	old := pool.Template{Ref: "lt-1:0", Content: "v1:old", Data: "d"}
	hold(t, report.UpToDate, []row{
		{"as wanted", "the plain case", and(), "True AllUpToDate: 3 of 3 machines were launched from the wanted launch template"},
		{"one old", "it is counted", first(func(i *pool.Instance) { i.Template = old }),
			"False NotReplaced: 2 of 3 machines were launched from the wanted launch template; nothing replaces machines of an older launch " +
				"template: the pool has no strategy"},
		{"one of unknown make, with issues", "the refused read may be any of them",
			and(first(func(i *pool.Instance) { i.Template = pool.Template{} }), func(sc *scene) {
				sc.o.Issues = []pool.Cause{{Reason: "Capacity", Message: "none left"}, {Reason: "Denied", Message: "templates can't be read"}}
			}), "False TemplateUnknown: 2 of 3 machines were launched from the wanted launch template; none left; templates can't be read"},
		{"one of unknown make", "what can't be told is not up to date", first(func(i *pool.Instance) { i.Template = pool.Template{} }),
			"False TemplateUnknown: 2 of 3 machines were launched from the wanted launch template"},
		{"older bootstrap data", "a rotated token makes no machine stale", first(func(i *pool.Instance) { i.Template.Data = "c" }),
			"True AllUpToDate: 3 of 3 machines were launched from the wanted launch template"},
		{"old one leaving", "who goes does not count", first(func(i *pool.Instance) { i.Template, i.State = old, pool.Terminating }),
			"True AllUpToDate: 2 of 2 machines were launched from the wanted launch template"},
		{"template changed", "all are old at once", and(wanted("v1:b", "d"), rolling),
			"False TemplateOutOfDate: 0 of 3 machines were launched from the wanted launch template; the Auto Scaling group does not launch from " +
				"the wanted launch template yet"},
		{"rolling", "how far it is, and why", and(rolling, first(stale)),
			"False TemplateChanged: 2 of 3 machines were launched from the wanted launch template; 1 of 3 machines to replace: launched from " +
				"lt-1:0, which differs from what the specification asks for in spec.ami"},
		{"halted", "which machine, and the cloud's words", and(rolling, issue, first(stale), second(late)),
			"False RolloutHalted: 2 of 3 machines were launched from the wanted launch template; the rollout is halted: new instance i-2 has not " +
				"joined the cluster in time; no m5.large left in zone a"},
		{"rolling, none launched", "what the machines wait for that are to come, in the cloud's words", and(rolling, issue, first(stale)),
			"False TemplateChanged: 2 of 3 machines were launched from the wanted launch template; 1 of 3 machines to replace: launched from " +
				"lt-1:0, which differs from what the specification asks for in spec.ami; no m5.large left in zone a"},
		{"paused", "by whom", and(rolling, paused, first(stale)),
			"False RolloutPaused: 2 of 3 machines were launched from the wanted launch template; paused by muster.dev/rollout"},
		{"restarted", "machines of the wanted template are to be replaced as well", and(rolling, restart),
			"False Restart: 3 of 3 machines were launched from the wanted launch template; 3 of 3 machines to replace: asked for"},
		{"replacement refused", "the cloud's words", and(rolling, first(stale), refused(pool.Replace, denied)),
			"False Denied: 2 of 3 machines were launched from the wanted launch template; autoscaling:X: AccessDenied: not authorized; 1 of 3 " +
				"machines to replace: launched from lt-1:0, which differs from what the specification asks for in spec.ami"},
		{"model skipped by the object", "who asked for it, not the gate", and(rolling, first(stale), func(s *scene) {
			s.d.SkipModel, s.d.SkipModelCause = true, pool.Cause{Reason: "RefreshDisabled", Message: "spec.x.disable is true"}
		}), "False RefreshDisabled: 2 of 3 machines were launched from the wanted launch template; spec.x.disable is true"},
		{"model skipped", "why nothing is done", and(rolling, first(stale), func(s *scene) { s.d.SkipModel = true }),
			"False ModelReconciliationSkipped: 2 of 3 machines were launched from the wanted launch template; a changed template replaces none " +
				"(SkipMachinePoolModelReconciliation)"},
		{"the cloud rolls", "its progress in its words", and(native, first(stale), cloudRolls(pool.ProviderRolloutRunning, 40, "")),
			"False ProviderRolloutRunning: 2 of 3 machines were launched from the wanted launch template; the rollout of the Auto Scaling group " +
				"to lt-1:1 is Running at 40 %"},
		{"the cloud's roll has failed", "its reason, and what becomes of it",
			and(native, first(stale), cloudRolls(pool.ProviderRolloutFailed, 40, "too few healthy")),
			"False ProviderRolloutFailed: 2 of 3 machines were launched from the wanted launch template; the rollout of the Auto Scaling group to " +
				"lt-1:1 ended as Failed, retrying after a pause: too few healthy"},
		{"the cloud watches", "all are replaced, and it has not ended", and(native, cloudRolls(pool.ProviderRolloutBaking, 100, "")),
			"False ProviderRolloutBaking: 3 of 3 machines were launched from the wanted launch template; the rollout of the Auto Scaling group to " +
				"lt-1:1 is Baking at 100 %"},
		{"template unknown", "nothing can be compared", wanted("", ""),
			"Unknown TemplateUnknown: the inputs of the launch template are not known"},
		{"rolls can't be seen", "whether a rollout has ended is not known", rollsUnseen,
			"Unknown Denied: 3 of 3 machines were launched from the wanted launch template; autoscaling:DescribeInstanceRefreshes: AccessDenied: " +
				"not authorized"},
		{"rolls can't be seen, one old", "why nothing replaces it", and(native, first(stale), rollsUnseen),
			"False Denied: 2 of 3 machines were launched from the wanted launch template; autoscaling:DescribeInstanceRefreshes: AccessDenied: " +
				"not authorized"},
		{"a version waits", "what is wanted is not there, though nothing can be replaced for it yet", func(s *scene) {
			s.o.Issues = []pool.Cause{{Reason: "Capacity", Message: "no room"},
				{Reason: pool.ControlPlaneUpgradePending, Message: "nodes run 1.33 of the wanted 1.34"}}
		}, "False ControlPlaneUpgradePending: 3 of 3 machines were launched from the wanted launch template; nodes run 1.33 of the wanted 1.34"},
		{"no group", "nothing is as it should be that does not exist", and(noGroup, refused(pool.CreateGroup, denied)),
			"Unknown GroupMissing: there is no Auto Scaling group, so no machine to compare"},
		{"no machines", "none is old", func(s *scene) { s.d.Replicas, s.o.Group.Size, s.o.Instances = 0, 0, nil },
			"True AllUpToDate: 0 of 0 machines were launched from the wanted launch template"},
		{"not asked", "unknown is shown as unknown", unseen, "Unknown NotObserved: the cloud was not asked yet"},
		{"deleting", "a pool that goes is compared with nothing", deleting, "absent"},
	})
}

func TestDraining(t *testing.T) {
	unblocked := func(i *pool.Instance) {
		draining(i)
		i.Node.Blocked = nil
	}
	hold(t, report.Draining, []row{
		{"no drain", "the condition is there only while nodes are drained", and(), "absent"},
		{"a rollout drains", "which node", and(rolling, first(stale), first(unblocked)), "True Draining: draining node-i-1"},
		{"a budget that never allows", "pod and budget by name, though every machine is Ready", and(rolling, first(stale), first(draining)),
			"True DrainBlocked: draining node-i-1; kept by default/web (budget web)"},
		{"quarantine", "the node that the rollout goes on without", and(stuckFor, first(stale), first(draining), first(quarantined)),
			"True Quarantined: in quarantine: node-i-1; kept by default/web (budget web)"},
		{"a deletion drains", "every drain is reported alike", and(deleting, first(draining)),
			"True DrainBlocked: draining node-i-1; kept by default/web (budget web)"},
		{"a rollout waits for it", "the drain itself, whatever waits for it", and(changes, replicas(2), first(draining), second(stale)),
			"True DrainBlocked: draining node-i-1; kept by default/web (budget web)"},
		{"drained", "what has ended is no news", and(rolling, first(stale), first(func(i *pool.Instance) {
			draining(i)
			i.Node.Remaining, i.Node.Blocked = 0, nil
		})), "absent"},
		{"not asked", "nothing is known", and(unseen, first(draining)), "absent"},
	})
}

func TestDeleting(t *testing.T) {
	hold(t, report.Deleting, []row{
		{"not deleting", "the condition is there only while the object goes", and(), "absent"},
		{"begins to drain", "what is done is said", deleting, "True Drain: the pool is being deleted"},
		{"draining", "who is drained and what keeps it", and(deleting, first(draining)),
			"True DrainBlocked: draining node-i-1; kept by default/web (budget web)"},
		{"nodes unknown", "what is waited for", and(deleting, away),
			"True ConnectionDown: waiting for the workload cluster to answer, because nodes are drained before they go"},
		{"drained", "the group goes", func(s *scene) { s.d.Deleting, s.o.Instances = true, nil }, "True DeleteGroup: the pool is being deleted"},
		{"group goes", "what is waited for", and(deleting, groupGoes),
			"True GroupDeleting: waiting for the Auto Scaling group and its instances to be gone"},
		{"group gone", "the template goes", and(deleting, noGroup),
			"True DeleteTemplates: the pool is being deleted, and its launch template is not used any more"},
		{"left over", "what else goes", and(deleting, noGroup, noTemplate, func(s *scene) { s.o.Leftovers = []string{"role nodes-1"} }),
			"True CleanUp: the pool is being deleted, and its Auto Scaling group is gone"},
		{"not deleted", "the cloud's words on why its deletion has failed",
			and(deleting, failedGroup, func(s *scene) { s.o.Instances, s.o.Group.DeleteFailedAt = nil, epoch.Add(-time.Minute) }),
			"True CreateFailed: Ec2SubnetInvalidConfiguration: no public address"},
		{"busy", "what is waited for", and(deleting, busy), "True Updating: EKS is updating the node group"},
		{"gone", "nothing is left", and(deleting, noGroup, noTemplate), "True Gone: nothing of the pool is left in the cloud"},
		{"refused", "the cloud's words", and(deleting, noGroup, refused(pool.DeleteTemplates, denied)),
			"True Denied: DeleteTemplates was refused: autoscaling:X: AccessDenied: not authorized"},
		{"can't be observed", "the cloud's words", and(deleting, failing(denied)), "True Denied: autoscaling:X: AccessDenied: not authorized"},
		{"not asked", "what holds it up", and(deleting, held, unseen), "True ClusterNotReady: waiting for the cluster's network"},
		{"not asked, nothing known", "something is said even so", and(deleting, unseen),
			"True Deleting: the Auto Scaling group is being deleted"},
	})
}

func TestReady(t *testing.T) {
	hold(t, report.Ready, []row{
		{"as wanted", "how many", and(), "True AllReady: 3 of 3 machines are Ready"},
		{"some old", "a pool is ready while it has old machines, and they are counted",
			first(func(i *pool.Instance) { i.Template.Content = "v1:old" }), "True AllReady: 3 of 3 machines are Ready, 2 up to date"},
		{"halted", "a rollout that only a user lets go on is no matter of course, though the old machines serve",
			and(rolling, first(stale), second(late), size(2), replicas(2)),
			"False RolloutHalted: 2 of 2 machines are Ready, 2 up to date; the rollout is halted: new instance i-2 has not joined the " +
				"cluster in time"},
		{"rolling, none launched", "a pool is ready with its old machines, and says why no new ones come", and(rolling, issue, first(stale)),
			"True AllReady: 3 of 3 machines are Ready, 2 up to date; no m5.large left in zone a"},
		{"rolls can't be seen", "what serves is ready, whatever else can't be read", rollsUnseen, "True AllReady: 3 of 3 machines are Ready"},
		{"paused", "and that it is paused", and(rolling, paused, first(stale)),
			"True AllReady: 3 of 3 machines are Ready, 2 up to date; paused by muster.dev/rollout"},
		{"a drain that can't end", "pod and budget by name", and(rolling, first(stale), first(draining)),
			"True AllReady: 3 of 3 machines are Ready, 2 up to date; draining node-i-1; kept by default/web (budget web)"},
		{"not joined", "how many, and what is waited for", first(notJoined),
			"False NodesJoining: 2 of 3 machines are Ready; waiting for 1 machine to join the cluster"},
		{"scaling", "how many, and what is waited for rather than two sizes", and(replicas(5), first(unready)),
			"False Scaling: 2 of 5 machines are Ready; waiting for the nodes of 1 machine to be Ready"},
		{"scaling, nothing to wait for", "both sizes then", replicas(5),
			"False Scaling: 3 of 5 machines are Ready; the Auto Scaling group has a size of 3, the pool wants 5"},
		{"bootstrap data changed", "a rotation is no news", wanted("v1:a", "e"), "True AllReady: 3 of 3 machines are Ready"},
		{"bootstrap data behind", "to its end", and(wanted("v1:a", "e"), newest(rotated)), "True AllReady: 3 of 3 machines are Ready"},
		{"group before instances", "a cause comes before its effect", and(drift("tags"), first(notJoined)),
			"False GroupChanged: 2 of 3 machines are Ready; the Auto Scaling group differs in tags"},
		{"template changed", "the cause again", wanted("v1:b", "d"),
			"False TemplateChanged: 3 of 3 machines are Ready, 0 up to date; a new version of the launch template is being created"},
		{"capacity", "the cloud's words", and(first(pending), issue), "False Capacity: 2 of 3 machines are Ready; no m5.large left in zone a"},
		{"workload cluster away", "nothing is counted that can't be observed", away,
			"Unknown ConnectionDown: 3 machines wanted; the workload cluster does not answer, so nothing is known about nodes and none is removed"},
		{"held", "what holds it up", and(noGroup, noTemplate, held),
			"False ClusterNotReady: 0 of 3 machines are Ready; waiting for the cluster's network"},
		{"foreign", "what is in the way", foreign, "False OwnershipConflict: 0 of 3 machines are Ready; Auto Scaling group x is not this pool's"},
		{"refused", "the cloud's words", and(replicas(5), refused(pool.Resize, denied)),
			"False Denied: 3 of 5 machines are Ready; autoscaling:X: AccessDenied: not authorized"},
		{"without effect", "the sentence names the field", and(drift("spec.defaultInstanceWarmup"), refused(pool.UpdateGroup, ineffective)),
			"False NoEffect: 3 of 3 machines are Ready; " + ineffective.Error()},
		{"drain refused", "the refusal before what goes on", and(first(notJoined), replicas(2), refused(pool.Drain, denied)),
			"False Denied: 2 of 2 machines are Ready; autoscaling:X: AccessDenied: not authorized"},
		{"rollout refused", "what serves does not hide what the cloud refuses",
			and(native, first(stale), refused(pool.StartProviderRollout, invalid)),
			"False Invalid: 3 of 3 machines are Ready, 2 up to date; ec2:X: spec.awsLaunchTemplate.ami: InvalidAMIID.NotFound: no such image"},
		{"rollout conflicts", "what is possible when something else has ended is no error",
			and(native, first(stale), refused(pool.StartProviderRollout, &cloud.Error{Kind: cloud.Conflict, Message: "in progress"})),
			"True AllReady: 3 of 3 machines are Ready, 2 up to date"},
		{"two refusals", "one hides no other", and(replicas(5), native, first(stale), func(s *scene) {
			s.refused = map[pool.StepKind]error{pool.Resize: denied, pool.StartProviderRollout: invalid}
		}), "False Denied: 3 of 5 machines are Ready, 2 up to date; autoscaling:X: AccessDenied: not authorized; ec2:X: " +
			"spec.awsLaunchTemplate.ami: InvalidAMIID.NotFound: no such image"},
		{"a drain of surplus that can't end, and a rollout", "the rollout hides neither the drain nor the surplus",
			and(changes, replicas(2), first(draining), second(stale)),
			"False Scaling: 3 machines are Ready, 2 are wanted, 2 up to date; the rollout of the Auto Scaling group waits until the machines " +
				"that are being drained are gone; draining node-i-1; kept by default/web (budget web)"},
		{"the same after a rollout that failed", "nor the failure",
			and(changes, replicas(2), first(draining), second(stale), cloudRolls(pool.ProviderRolloutFailed, 40, "web-1 can't be evicted")),
			"False Scaling: 3 machines are Ready, 2 are wanted, 2 up to date; the rollout of the Auto Scaling group waits until the machines " +
				"that are being drained are gone; the rollout of the Auto Scaling group to lt-1:1 ended as Failed: " +
				"web-1 can't be evicted; draining node-i-1; kept by default/web (budget web)"},
		{"no group, template refused", "the refusal, and not what waits for it",
			and(noGroup, noTemplate, noMachines, refused(pool.PutTemplate, denied)),
			"False Denied: 0 of 3 machines are Ready; autoscaling:X: AccessDenied: not authorized"},
		{"no group, template missing", "what is being made", and(noGroup, noTemplate),
			"False GroupMissing: 0 of 3 machines are Ready; the Auto Scaling group is being created"},
		{"scaling, template refused", "a refusal comes before what goes on",
			and(replicas(5), wanted("v1:b", "d"), refused(pool.PutTemplate, denied)),
			"False Denied: 3 of 5 machines are Ready, 0 up to date; autoscaling:X: AccessDenied: not authorized"},
		{"drift, need refused", "the same", and(lacking, drift("tags"), refused(pool.EnsurePrerequisites, denied)),
			"False Denied: 3 of 3 machines are Ready; autoscaling:X: AccessDenied: not authorized"},
		{"drift, template of unknown make", "what the cloud can't look up is a refusal too", and(drift("tags"), wanted("", ""), issue),
			"False Capacity: 3 of 3 machines are Ready; no m5.large left in zone a"},
		{"failed group, template refused", "what has failed comes before what follows from it",
			and(noMachines, failedGroup, wanted("v1:b", "d"), refused(pool.PutTemplate, denied)),
			"False CreateFailed: 0 of 3 machines are Ready; Ec2SubnetInvalidConfiguration: no public address; autoscaling:X: AccessDenied: not " +
				"authorized"},
		{"need missing, no group", "what the group waits for", and(lacking, noGroup),
			"False PrerequisiteMissing: 0 of 3 machines are Ready; the node role is being updated: role nodes-1, policy P"},
		{"need refused, no group", "in the cloud's words", and(lacking, noGroup, refused(pool.EnsurePrerequisites, denied)),
			"False Denied: 0 of 3 machines are Ready; autoscaling:X: AccessDenied: not authorized"},
		{"need missing", "the cause before its effect", lacking,
			"False PrerequisiteMissing: 3 of 3 machines are Ready; the node role is being updated: role nodes-1, policy P"},
		{"group failed", "the cloud's words", and(noMachines, failedGroup),
			"False CreateFailed: 0 of 3 machines are Ready; Ec2SubnetInvalidConfiguration: no public address"},
		{"group busy", "what the cloud does", busy, "False Updating: 3 of 3 machines are Ready; EKS is updating the node group"},
		{"a roll of changes has failed", "a pool is ready with its old machines, and says why they are old",
			and(changes, first(stale), cloudRolls(pool.ProviderRolloutFailed, 40, "PodEvictionFailure: web-1 can't be evicted")),
			"True AllReady: 3 of 3 machines are Ready, 2 up to date; the rollout of the Auto Scaling group to lt-1:1 ended as Failed, retrying " +
				"after a pause: PodEvictionFailure: web-1 can't be evicted"},
		{"denied", "its state is unknown", failing(denied), "Unknown Denied: autoscaling:X: AccessDenied: not authorized"},
		{"invalid", "what is to be changed", failing(invalid),
			"False Invalid: ec2:X: spec.awsLaunchTemplate.ami: InvalidAMIID.NotFound: no such image"},
		{"deleting", "a pool that goes is not ready, and says how far it is", and(deleting, first(draining)),
			"False Deleting: draining node-i-1; kept by default/web (budget web)"},
		{"gone", "to the end", and(deleting, noGroup, noTemplate), "False Deleting: nothing of the pool is left in the cloud"},
	})
}

// rotated is the version that follows the scene's own after a rotation of its token.
var rotated = pool.Template{Ref: "lt-1:2", Content: "v1:a", Data: "e"}

func TestCountsAndLists(t *testing.T) {
	number := func(n *int) string {
		if n == nil {
			return "unknown"
		}
		return fmt.Sprint(*n)
	}
	for _, r := range []row{
		{"as wanted", "desired, current, ready, up to date", and(), "3 3 3 3"},
		{"leaving", "who goes counts nowhere", first(leaving), "3 2 2 2"},
		{"failed", "it is there and not ready", first(broken), "3 3 2 3"},
		{"workload cluster away", "unknown is shown as unknown", away, "3 3 unknown 3"},
		{"template unknown", "likewise", wanted("", ""), "3 3 3 unknown"},
		{"not asked", "only what is wanted is known", unseen, "3 unknown unknown unknown"},
		{"can't be observed", "the same", failing(denied), "3 unknown unknown unknown"},
		{"sized elsewhere", "the group's size is what is wanted", and(external, replicas(9), size(4)), "4 3 3 3"},
		{"sized elsewhere, no group", "the object's word until there is one", and(external, replicas(9), noGroup), "9 0 0 0"},
		{"deleting", "none is wanted", deleting, "0 3 3 3"},
		{"deleting, sized elsewhere", "none is wanted either", and(deleting, external), "0 3 3 3"},
	} {
		t.Run(r.name, func(t *testing.T) {
			c := aScene(r.change).report().Counts
			if got := fmt.Sprintf("%d %s %s %s", c.Desired, number(c.Current), number(c.Ready), number(c.UpToDate)); got != r.want {
				t.Errorf("%s: want %s, got %s", r.why, r.want, got)
			}
		})
	}
	remembered := func(s *scene) { s.o.ResolvedLookups = map[string]string{"image": "ami-1"} }
	rep := aScene(first(leaving), size(4), remembered, func(s *scene) {
		s.o.Instances[1].State, s.o.Instances[1].Node = pool.Failed, nil
	}).report()
	if want := []string{"aws:///a/i-3"}; !reflect.DeepEqual(rep.ProviderIDs, want) {
		t.Errorf("want the provider IDs of machines that are of use, %v, got %v", want, rep.ProviderIDs)
	}
	row := report.Instance{ID: "i-3", ProviderID: "aws:///a/i-3", Zone: "a", State: pool.Running, Node: "node-i-3", Ready: true,
		Version: "v1.34.1", Template: "lt-1:1"}
	if len(rep.Instances) != 3 || rep.Instances[2] != row {
		t.Errorf("want a row for each machine, the last one %+v, got %+v", row, rep.Instances)
	}
	if !rep.Seen || !rep.Provisioned || rep.GroupID != "arn:g" || rep.Template != "lt-1:1" || *rep.Size != 4 ||
		rep.ResolvedLookups["image"] != "ami-1" {
		t.Errorf("want what was observed, got %+v", rep)
	}
	rep = aScene(noGroup).report()
	if rep.Provisioned || rep.GroupID != "" || rep.Size != nil || rep.Template == "" {
		t.Errorf("want a pool without a group not provisioned, got %+v", rep)
	}
	rep = aScene(failing(denied)).report()
	if rep.Seen || rep.Provisioned || rep.Template != "" || rep.Instances != nil || rep.ProviderIDs != nil || rep.ResolvedLookups != nil {
		t.Errorf("want nothing said that was not seen, got %+v", rep)
	}
}

// everything is each change that the tables know.
func everything() []func(*scene) {
	return []func(*scene){
		and(), replicas(5), replicas(1), replicas(99), size(5), external, deleting, held, unseen, failing(denied), failing(invalid), foreign,
		noGroup,
		and(noGroup, noTemplate), noTemplate, away, wanted("v1:b", "d"), wanted("", ""), issue, drift("tags", "spec.maxSize"),
		refused(pool.Resize, denied), refused(pool.Drain, denied), first(func(i *pool.Instance) { i.State = pool.Pending }), first(broken),
		first(leaving),
		func(s *scene) { s.started = true }, func(s *scene) { s.fresh = denied },
		func(s *scene) {
			if len(s.o.Instances) > 0 && s.o.Instances[0].Node != nil {
				draining(&s.o.Instances[0])
			}
		},
	}
}

// Every pair of circumstances gives the same report twice, byte by byte, whenever it is made; nothing in it tells the time,
// and every condition has a status, a reason in one word, and a message.
func TestReportsAreStable(t *testing.T) {
	all := everything()
	for a := range all {
		for b := range all {
			combined := func(s *scene) {
				all[a](s)
				if len(s.o.Instances) > 0 && s.o.Group != nil || a == b {
					all[b](s)
				}
			}
			one, two := fmt.Sprintf("%+v", flat(aScene(combined).report())), fmt.Sprintf("%+v", flat(aScene(combined).report()))
			if one != two {
				t.Fatalf("circumstances %d and %d: want equal reports, got\n%s\n%s", a, b, one, two)
			}
			for _, word := range []string{"2026", "2025", "03:0", "0x", "%!"} {
				if strings.Contains(one, word) {
					t.Errorf("circumstances %d and %d: want no times, addresses and unfilled words, got %q in %s", a, b, word, one)
				}
			}
			sound(t, aScene(combined).report().Conditions)
		}
	}
}

// flat is a report without pointers.
func flat(r report.Report) []any {
	var numbers []int
	for _, n := range []*int{r.Counts.Current, r.Counts.Ready, r.Counts.UpToDate, r.Size} {
		if n != nil {
			numbers = append(numbers, *n)
		}
	}
	return []any{r.Conditions, r.State, r.Events, r.Counts.Desired, numbers, r.Template, r.ProviderIDs, r.Instances, r.GroupID,
		r.ResolvedLookups}
}

func sound(t *testing.T, list []report.Condition) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range list {
		if seen[c.Type] || c.Reason == "" || strings.ContainsAny(c.Reason, " .:") || c.Message == "" || c.Status != report.True &&
			c.Status != report.False && c.Status != report.Unknown {
			t.Errorf("want each condition once, with status, reason and message, got %+v", c)
		}
		seen[c.Type] = true
	}
	if !seen[report.Ready] {
		t.Errorf("want a summary, got %+v", list)
	}
}
