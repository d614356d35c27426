package crd_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/muster-project/muster/api/aws/v1beta1"
	"github.com/muster-project/muster/api/aws/v1beta2"
)

// rulesCases are the cases of TestRules.
var rulesCases = []struct {
	name, reason string
	spec         string
	// refused are parts of the one message that is wanted; none means that the object is taken.
	refused []string
	// only, when set, names the one version that knows the fields.
	only string
}{
	{name: "the least", reason: "everything but the launch template has a default", spec: minimal},
	{name: "the seed's manifest", reason: "published manifests apply as they are", spec: `
minSize: 1
maxSize: 10
availabilityZones: [us-east-1a]
awsLaunchTemplate: {instanceType: m5.large, sshKeyName: default}
subnets: [{id: subnet-0abc}]`},
	{name: "no launch template", reason: "there is nothing to launch", spec: "minSize: 1",
		refused: []string{"spec.awsLaunchTemplate", "Required value"}},
	{name: "unknown field", reason: "a slip of the pen must not go unnoticed", spec: minimal + "\nminsize: 1",
		refused: []string{"spec.minsize", "unknown field"}},

	{name: "an empty strategy", reason: "everything in it has a default", spec: minimal + "\nstrategy: {}"},
	{name: "a strategy in full", reason: "numbers and percentages, in the words of AzureMachinePool",
		spec: minimal + "\nstrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 1, deletePolicy: Newest}}"},
	{name: "no surge, some unavailable", reason: "one of the two is enough",
		spec: minimal + "\nstrategy: {rollingUpdate: {maxSurge: 0%, maxUnavailable: 100%}}"},
	{name: "a surge of more than all", reason: "some users deploy blue and green, with a whole second fleet and more",
		spec: minimal + "\nstrategy: {rollingUpdate: {maxSurge: 200%}}"},
	{name: "the group's own refresh", reason: "users ask for it by name", spec: minimal + "\nstrategy: {type: InstanceRefresh}"},
	{name: "another type", reason: "there are three types", spec: minimal + "\nstrategy: {type: Recreate}",
		refused: []string{"spec.strategy.type", "OnDelete", "RollingUpdate", "InstanceRefresh"}},
	{name: "another delete policy", reason: "the policies are an enumeration",
		spec:    minimal + "\nstrategy: {rollingUpdate: {deletePolicy: oldest}}",
		refused: []string{"spec.strategy.rollingUpdate.deletePolicy", "oldest", "Oldest"}},
	{name: "both zero", reason: "nothing could ever be replaced",
		spec:    minimal + "\nstrategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}",
		refused: []string{"spec.strategy.rollingUpdate.maxUnavailable", "both zero"}},
	{name: "surge zero alone", reason: "unavailable is zero by default: the message says so",
		spec:    minimal + "\nstrategy: {rollingUpdate: {maxSurge: 0}}",
		refused: []string{"spec.strategy.rollingUpdate.maxUnavailable", "both zero", "maxUnavailable is 0", "unless set"}},
	{name: "both zero percent", reason: "a hole in AzureMachinePool's validation",
		spec:    minimal + "\nstrategy: {rollingUpdate: {maxSurge: 0%, maxUnavailable: 0%}}",
		refused: []string{"spec.strategy.rollingUpdate.maxUnavailable", "both zero"}},
	{name: "zero percent and zero", reason: "the two spellings mean the same",
		spec:    minimal + "\nstrategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 00%}}",
		refused: []string{"spec.strategy.rollingUpdate.maxUnavailable", "both zero"}},
	{name: "zero and zero percent", reason: "the two spellings mean the same",
		spec:    minimal + "\nstrategy: {rollingUpdate: {maxSurge: 0%, maxUnavailable: 0}}",
		refused: []string{"spec.strategy.rollingUpdate.maxUnavailable", "both zero"}},
	{name: "a negative surge", reason: "there is nothing below none",
		spec:    minimal + "\nstrategy: {rollingUpdate: {maxSurge: -1}}",
		refused: []string{"spec.strategy.rollingUpdate.maxSurge", "at least 0"}},
	{name: "a negative share", reason: "there is nothing below none",
		spec:    minimal + "\nstrategy: {rollingUpdate: {maxUnavailable: -10%}}",
		refused: []string{"spec.strategy.rollingUpdate.maxUnavailable", "from '0%' to '100%'"}},
	{name: "a number in quotes", reason: "it would be read as nothing at all",
		spec:    minimal + "\nstrategy: {rollingUpdate: {maxSurge: \"2\"}}",
		refused: []string{"spec.strategy.rollingUpdate.maxSurge", "without quotes"}},
	{name: "more unavailable than there are", reason: "a share of the wanted number is at most all of it",
		spec:    minimal + "\nstrategy: {rollingUpdate: {maxUnavailable: 101%}}",
		refused: []string{"spec.strategy.rollingUpdate.maxUnavailable", "'100%'"}},
	{name: "a broken share", reason: "percentages are whole", spec: minimal + "\nstrategy: {rollingUpdate: {maxSurge: 12.5%}}",
		refused: []string{"spec.strategy.rollingUpdate.maxSurge", "percentage"}},
	{name: "a strategy and preferences", reason: "the preferences wait for the strategy to be taken away",
		spec: minimal + "\nstrategy: {}\nrefreshPreferences: {minHealthyPercentage: 90}"},
	{name: "a strategy that is disabled", reason: "the two contradict each other", only: "v1beta2",
		spec:    minimal + "\nstrategy: {}\nrefreshPreferences: {disable: true}",
		refused: []string{"spec.strategy", "refreshPreferences.disable", "muster.dev/rollout"}},

	{name: "checks of a refresh", reason: "all that the cloud offers for a careful refresh",
		spec: minimal + "\nrefreshPreferences: {strategy: Rolling, checkpointPercentages: [10, 50, 100], checkpointDelay: 0, bakeTime: " +
			"172800, autoRollback: true, " +
			"alarmSpecification: {alarms: [errors, latency]}, scaleInProtectedInstances: Ignore, standbyInstances: Terminate}"},
	{name: "another refresh strategy", reason: "it takes the disk from under a node that was not drained",
		spec:    minimal + "\nrefreshPreferences: {strategy: ReplaceRootVolume}",
		refused: []string{"spec.refreshPreferences.strategy", "found ReplaceRootVolume, want Rolling", "drained"}},
	{name: "a warmup beyond what can be said", reason: "the cloud counts in 32 bits",
		spec:    minimal + "\nrefreshPreferences: {instanceWarmup: 2147483648}",
		refused: []string{"spec.refreshPreferences.instanceWarmup", "less than or equal to 2147483647"}},
	{name: "checkpoints out of order", reason: "the cloud refuses them",
		spec:    minimal + "\nrefreshPreferences: {checkpointPercentages: [50, 20, 100]}",
		refused: []string{"spec.refreshPreferences.checkpointPercentages", "ascending"}},
	{name: "a checkpoint twice", reason: "the cloud refuses it",
		spec:    minimal + "\nrefreshPreferences: {checkpointPercentages: [50, 50, 100]}",
		refused: []string{"spec.refreshPreferences.checkpointPercentages", "each percentage once"}},
	{name: "checkpoints that end early", reason: "the rest would be stale, and the next refresh begin at once",
		spec:    minimal + "\nrefreshPreferences: {checkpointPercentages: [20, 50]}",
		refused: []string{"spec.refreshPreferences.checkpointPercentages", "must end with 100"}},
	{name: "a checkpoint of none", reason: "shares are from 1 to 100",
		spec:    minimal + "\nrefreshPreferences: {checkpointPercentages: [0, 100]}",
		refused: []string{"spec.refreshPreferences.checkpointPercentages[0]", "greater than or equal to 1"}},
	{name: "a delay without checkpoints", reason: "the cloud refuses it", spec: minimal + "\nrefreshPreferences: {checkpointDelay: 60}",
		refused: []string{"spec.refreshPreferences.checkpointDelay", "needs checkpointPercentages"}},
	{name: "a delay of more than two days", reason: "the cloud refuses it",
		spec:    minimal + "\nrefreshPreferences: {checkpointPercentages: [100], checkpointDelay: 172801}",
		refused: []string{"spec.refreshPreferences.checkpointDelay", "less than or equal to 172800"}},
	{name: "baking for more than two days", reason: "the cloud refuses it", spec: minimal + "\nrefreshPreferences: {bakeTime: 172801}",
		refused: []string{"spec.refreshPreferences.bakeTime", "less than or equal to 172800"}},
	{name: "eleven alarms", reason: "the cloud takes ten",
		spec:    minimal + "\nrefreshPreferences: {alarmSpecification: {alarms: [a, b, c, d, e, f, g, h, i, j, k]}}",
		refused: []string{"spec.refreshPreferences.alarmSpecification.alarms", "at most 10"}},
	{name: "an alarm twice", reason: "names are a set", spec: minimal + "\nrefreshPreferences: {alarmSpecification: {alarms: [a, a]}}",
		refused: []string{"spec.refreshPreferences.alarmSpecification.alarms[1]", "Duplicate value"}},
	{name: "another way with standby", reason: "an enumeration of the cloud's",
		spec:    minimal + "\nrefreshPreferences: {standbyInstances: Refresh}",
		refused: []string{"spec.refreshPreferences.standbyInstances", "Terminate"}},
	{name: "another way with protection", reason: "an enumeration of the cloud's",
		spec:    minimal + "\nrefreshPreferences: {scaleInProtectedInstances: Terminate}",
		refused: []string{"spec.refreshPreferences.scaleInProtectedInstances", "Refresh"}},

	{name: "min above max", reason: "the cloud refuses it, and only in its own words", spec: minimal + "\nminSize: 5\nmaxSize: 3",
		refused: []string{"spec.minSize", "minSize is 5 and maxSize is 3", "must not be above"}},
	{name: "min above the default of max", reason: "defaults count", spec: minimal + "\nminSize: 2",
		refused: []string{"spec.minSize", "minSize is 2 and maxSize is 1"}},
	{name: "negative min", reason: "no group has less than nothing", spec: minimal + "\nminSize: -1",
		refused: []string{"spec.minSize", "-1", "greater than or equal to 0"}},
	{name: "negative max", reason: "no group has less than nothing", spec: minimal + "\nminSize: 0\nmaxSize: -3",
		refused: []string{"spec.maxSize", "-3", "greater than or equal to 1"}},
	{name: "from zero", reason: "a pool may shrink to nothing", spec: minimal + "\nminSize: 0\nmaxSize: 1"},

	{name: "cooldown of zero", reason: "zero is a choice, not an absence", spec: minimal + "\ndefaultCoolDown: 0s"},
	{name: "negative cooldown", reason: "time does not run backwards", spec: minimal + "\ndefaultCoolDown: -5m",
		refused: []string{"spec.defaultCoolDown", "zero or a positive duration"}},
	{name: "cooldown in days", reason: "a duration that Go can't read would break every list of pools",
		spec:    minimal + "\ndefaultCoolDown: 1d",
		refused: []string{"spec.defaultCoolDown", "1d"}},
	{name: "cooldown beyond the clock", reason: "a duration that overflows would break every list of pools",
		spec:    minimal + "\ndefaultCoolDown: 9999999h",
		refused: []string{"spec.defaultCoolDown"}},
	{name: "negative warmup", reason: "as cooldown", spec: minimal + "\ndefaultInstanceWarmup: -1s", only: "v1beta2",
		refused: []string{"spec.defaultInstanceWarmup", "zero or a positive duration"}},

	{name: "subnet by filters", reason: "both ways of naming a subnet",
		spec: minimal + "\nsubnets: [{filters: [{name: 'tag:Name', values: [a]}]}]"},
	{name: "subnet with id and filters", reason: "which of the two would hold?", only: "v1beta2",
		spec:    minimal + "\nsubnets: [{id: subnet-1, filters: [{name: vpc-id, values: [a]}]}]",
		refused: []string{"spec.subnets[0]", "id and filters exclude each other"}},
	{name: "subnet with nothing", reason: "an empty reference matches everything or nothing", only: "v1beta2",
		spec:    minimal + "\nsubnets: [{id: subnet-1}, {}]",
		refused: []string{"spec.subnets[1]", "one of id and filters must be set"}},
	{name: "filter without values", reason: "the cloud refuses it", only: "v1beta2",
		spec:    minimal + "\nsubnets: [{filters: [{name: vpc-id, values: []}]}]",
		refused: []string{"spec.subnets[0].filters[0].values", "at least 1"}},
	{name: "security group with id and filters", reason: "as subnets",
		spec:    "awsLaunchTemplate: {additionalSecurityGroups: [{id: sg-1, filters: [{name: vpc-id, values: [a]}]}]}",
		refused: []string{"spec.awsLaunchTemplate.additionalSecurityGroups[0]", "id and filters exclude each other"}},
	{name: "security group by id", reason: "the common spelling", spec: "awsLaunchTemplate: {additionalSecurityGroups: [{id: sg-1}]}"},

	{name: "zone's public subnets", reason: "the enum's values", spec: minimal + "\navailabilityZoneSubnetType: public", only: "v1beta2"},
	{name: "zone's other subnets", reason: "the message lists what is allowed", spec: minimal + "\navailabilityZoneSubnetType: external",
		only:    "v1beta2",
		refused: []string{"spec.availabilityZoneSubnetType", "external", "public", "private", "all"}},

	{name: "tags at the limits", reason: "the limits themselves are allowed",
		spec: minimal + "\nadditionalTags: {" + strings.Repeat("k", 128) + ": " + strings.Repeat("v", 256) + "}"},
	{name: "tag with an empty value", reason: "a tag may be a mark alone", spec: minimal + "\nadditionalTags: {a: ''}"},
	{name: "tag key too long", reason: "the cloud's limit", spec: minimal + "\nadditionalTags: {" + strings.Repeat("k", 129) + ": v}",
		refused: []string{"spec.additionalTags", "1 to 128 characters"}},
	{name: "tag key empty", reason: "the cloud's limit", spec: minimal + "\nadditionalTags: {'': v}",
		refused: []string{"spec.additionalTags", "1 to 128 characters"}},
	{name: "tag value too long", reason: "the cloud's limit", spec: minimal + "\nadditionalTags: {k: " + strings.Repeat("v", 257) + "}",
		refused: []string{"spec.additionalTags", "at most 256 characters"}},
	{name: "tag of the cloud", reason: "the cloud keeps the prefix for itself", spec: minimal + "\nadditionalTags: {'aws:x': v}",
		refused: []string{"spec.additionalTags", "aws:"}},
	{name: "tag of Muster's", reason: "it would make the pool's group another owner's",
		spec:    minimal + "\nadditionalTags: {'muster.dev/owner': v}",
		refused: []string{"spec.additionalTags", "muster.dev/"}},
	{name: "many tags", reason: "those that the controller and the cloud leave of fifty",
		spec: minimal + "\nadditionalTags: " + manyTags(36)},
	{name: "one tag more", reason: "the cloud's limit", spec: minimal + "\nadditionalTags: " + manyTags(37),
		refused: []string{"spec.additionalTags", "36"}},

	{name: "io2 with iops", reason: "the rule's other side", spec: "awsLaunchTemplate: {rootVolume: {size: 8, type: io2, iops: 100}}"},
	{name: "io1 without iops", reason: "the cloud refuses it", spec: "awsLaunchTemplate: {rootVolume: {size: 8, type: io1}}",
		refused: []string{"spec.awsLaunchTemplate.rootVolume.iops", "io1 and io2"}},
	{name: "gp3 with throughput", reason: "the rule's other side",
		spec: "awsLaunchTemplate: {rootVolume: {size: 8, type: gp3, throughput: 250}}"},
	{name: "gp2 with throughput", reason: "the cloud refuses it",
		spec:    "awsLaunchTemplate: {rootVolume: {size: 8, type: gp2, throughput: 250}}",
		refused: []string{"spec.awsLaunchTemplate.rootVolume.throughput", "gp3 only"}},
	{name: "throughput too low", reason: "the cloud's limit", spec: "awsLaunchTemplate: {rootVolume: {size: 8, type: gp3, throughput: 100}}",
		refused: []string{"spec.awsLaunchTemplate.rootVolume.throughput", "100", "125"}},
	{name: "throughput too high", reason: "the cloud's limit",
		spec:    "awsLaunchTemplate: {rootVolume: {size: 8, type: gp3, throughput: 2001}}",
		refused: []string{"spec.awsLaunchTemplate.rootVolume.throughput", "2001", "2000"}},
	{name: "volume too small", reason: "no image fits", spec: "awsLaunchTemplate: {rootVolume: {size: 7}}",
		refused: []string{"spec.awsLaunchTemplate.rootVolume.size", "7", "8"}},
	{name: "root volume with device name", reason: "objects that another provider wrote to carry it",
		spec: "awsLaunchTemplate: {rootVolume: {size: 8, deviceName: /dev/xvda}}"},
	{name: "volume type of tomorrow", reason: "types are free text", spec: "awsLaunchTemplate: {rootVolume: {size: 8, type: gp9}}"},
	{name: "further volume without device name", reason: "the cloud can't attach it", only: "v1beta2",
		spec:    "awsLaunchTemplate: {nonRootVolumes: [{size: 8, deviceName: /dev/sdb}, {size: 8}]}",
		refused: []string{"spec.awsLaunchTemplate.nonRootVolumes", "deviceName"}},
	{name: "further volume of io2 without iops", reason: "as the root volume", only: "v1beta2",
		spec:    "awsLaunchTemplate: {nonRootVolumes: [{size: 8, deviceName: /dev/sdb, type: io2}]}",
		refused: []string{"spec.awsLaunchTemplate.nonRootVolumes[0].iops", "io1 and io2"}},

	{name: "spot", reason: "the common spelling", spec: "awsLaunchTemplate: {spotMarketOptions: {maxPrice: '0.25'}}"},
	{name: "spot without price", reason: "an empty price is in use and means none",
		spec: "awsLaunchTemplate: {spotMarketOptions: {maxPrice: ''}}"},
	{name: "spot with a currency", reason: "the cloud wants a number", spec: "awsLaunchTemplate: {spotMarketOptions: {maxPrice: $1}}",
		refused: []string{"spec.awsLaunchTemplate.spotMarketOptions.maxPrice", "$1"}},
	{name: "spot and mixed instances", reason: "the cloud refuses such a template in such a group",
		spec:    "awsLaunchTemplate: {spotMarketOptions: {}}\nmixedInstancesPolicy: {overrides: [{instanceType: m5.large}]}",
		refused: []string{"spec.mixedInstancesPolicy", "spotMarketOptions", "instancesDistribution"}},
	{name: "market type spot and mixed instances", reason: "it is the same in other words", only: "v1beta2",
		spec:    "awsLaunchTemplate: {marketType: Spot}\nmixedInstancesPolicy: {overrides: [{instanceType: m5.large}]}",
		refused: []string{"spec.mixedInstancesPolicy", "marketType"}},
	{name: "mixed instances", reason: "the rule's other side",
		spec: minimal + "\nmixedInstancesPolicy: {overrides: [{instanceType: m5.large}], instancesDistribution: {spotAllocationStrategy: " +
			"price-capacity-optimized}}"},
	{name: "mixed instances above a hundred percent", reason: "the cloud's limit",
		spec:    minimal + "\nmixedInstancesPolicy: {instancesDistribution: {onDemandPercentageAboveBaseCapacity: 101}}",
		refused: []string{"onDemandPercentageAboveBaseCapacity", "101", "100"}},

	{name: "on demand with spot options", reason: "market types exclude each other", only: "v1beta2",
		spec:    "awsLaunchTemplate: {marketType: OnDemand, spotMarketOptions: {}}",
		refused: []string{"spec.awsLaunchTemplate.marketType", "is OnDemand", "must be Spot or absent"}},
	{name: "spot with spot options", reason: "said twice, and meant", only: "v1beta2",
		spec: "awsLaunchTemplate: {marketType: Spot, spotMarketOptions: {}}"},
	{name: "block without reservation", reason: "a block is a reservation", only: "v1beta2",
		spec:    "awsLaunchTemplate: {marketType: CapacityBlock}",
		refused: []string{"spec.awsLaunchTemplate.marketType", "capacityReservationId"}},
	{name: "block with reservation", reason: "the rule's other side", only: "v1beta2",
		spec: "awsLaunchTemplate: {marketType: CapacityBlock, capacityReservationId: cr-1}"},
	{name: "spot with reservation", reason: "spot instances use none", only: "v1beta2",
		spec:    "awsLaunchTemplate: {marketType: Spot, capacityReservationId: cr-1}",
		refused: []string{"spec.awsLaunchTemplate.marketType", "must not be Spot"}},
	{name: "spot options with reservation", reason: "spot instances use none", only: "v1beta2",
		spec:    "awsLaunchTemplate: {spotMarketOptions: {}, capacityReservationId: cr-1}",
		refused: []string{"spec.awsLaunchTemplate.spotMarketOptions", "capacityReservationId"}},
	{name: "reservation with another preference", reason: "a named reservation is a must", only: "v1beta2",
		spec:    "awsLaunchTemplate: {capacityReservationId: cr-1, capacityReservationPreference: Open}",
		refused: []string{"spec.awsLaunchTemplate.capacityReservationPreference", "is Open", "CapacityReservationsOnly"}},
	{name: "reservation only", reason: "the rule's other side", only: "v1beta2",
		spec: "awsLaunchTemplate: {capacityReservationId: cr-1, capacityReservationPreference: CapacityReservationsOnly}"},
	{name: "reservation without preference", reason: "an empty preference is in use", only: "v1beta2",
		spec: "awsLaunchTemplate: {capacityReservationId: cr-1, capacityReservationPreference: ''}"},
	{name: "market of tomorrow", reason: "the message lists what is allowed", only: "v1beta2", spec: "awsLaunchTemplate: {marketType: Free}",
		refused: []string{"spec.awsLaunchTemplate.marketType", "Free", "OnDemand", "Spot", "CapacityBlock"}},

	{name: "healthy at most without at least", reason: "the cloud refuses it", only: "v1beta2",
		spec:    minimal + "\nrefreshPreferences: {maxHealthyPercentage: 120}",
		refused: []string{"spec.refreshPreferences.maxHealthyPercentage", "minHealthyPercentage"}},
	{name: "healthy range too wide", reason: "the cloud refuses it", only: "v1beta2",
		spec:    minimal + "\nrefreshPreferences: {minHealthyPercentage: 50, maxHealthyPercentage: 151}",
		refused: []string{"spec.refreshPreferences.maxHealthyPercentage", "is 151", "which is 50"}},
	{name: "healthy range", reason: "the limit itself", only: "v1beta2",
		spec: minimal + "\nrefreshPreferences: {minHealthyPercentage: 50, maxHealthyPercentage: 150, strategy: Rolling}"},
	{name: "healthy above all", reason: "the cloud's limit", spec: minimal + "\nrefreshPreferences: {minHealthyPercentage: 101}",
		refused: []string{"spec.refreshPreferences.minHealthyPercentage", "101", "100"}},

	{name: "hook", reason: "the whole of one", only: "v1beta2",
		spec: minimal + "\nlifecycleHooks: [" +
			hook("heartbeatTimeout: 30s, roleARN: r, notificationTargetARN: t, defaultResult: CONTINUE") + "]"},
	{name: "hook of two days", reason: "the limit itself", only: "v1beta2",
		spec: minimal + "\nlifecycleHooks: [" + hook("heartbeatTimeout: 48h0m0s") + "]"},
	{name: "hook without name", reason: "the cloud knows hooks by name", only: "v1beta2",
		spec:    minimal + "\nlifecycleHooks: [{lifecycleTransition: 'autoscaling:EC2_INSTANCE_LAUNCHING'}]",
		refused: []string{"spec.lifecycleHooks[0].name", "Required value"}},
	{name: "hook twice", reason: "the second would overwrite the first", only: "v1beta2",
		spec:    minimal + "\nlifecycleHooks: [" + hook("") + "," + hook("") + "]",
		refused: []string{"spec.lifecycleHooks[1]", "Duplicate value"}},
	{name: "hook with a role alone", reason: "the two need each other", only: "v1beta2",
		spec:    minimal + "\nlifecycleHooks: [" + hook("roleARN: r") + "]",
		refused: []string{"spec.lifecycleHooks[0]", "set both or none"}},
	{name: "hook with a target alone", reason: "the two need each other", only: "v1beta2",
		spec:    minimal + "\nlifecycleHooks: [" + hook("notificationTargetARN: t") + "]",
		refused: []string{"spec.lifecycleHooks[0]", "set both or none"}},
	{name: "hook at another moment", reason: "the message lists what is allowed", only: "v1beta2",
		spec:    minimal + "\nlifecycleHooks: [{name: h, lifecycleTransition: reboot}]",
		refused: []string{"spec.lifecycleHooks[0].lifecycleTransition", "reboot", "EC2_INSTANCE_LAUNCHING", "EC2_INSTANCE_TERMINATING"}},
	{name: "hook with another result", reason: "the message lists what is allowed", only: "v1beta2",
		spec:    minimal + "\nlifecycleHooks: [" + hook("defaultResult: RETRY") + "]",
		refused: []string{"spec.lifecycleHooks[0].defaultResult", "RETRY", "CONTINUE", "ABANDON"}},
	{name: "hook too short", reason: "the cloud's limit", only: "v1beta2",
		spec:    minimal + "\nlifecycleHooks: [" + hook("heartbeatTimeout: 29s") + "]",
		refused: []string{"spec.lifecycleHooks[0].heartbeatTimeout", "between 30s and 48h"}},
	{name: "hook too long", reason: "the cloud's limit", only: "v1beta2",
		spec:    minimal + "\nlifecycleHooks: [" + hook("heartbeatTimeout: 172801s") + "]",
		refused: []string{"spec.lifecycleHooks[0].heartbeatTimeout", "between 30s and 48h"}},

	{name: "ignition", reason: "the versions that are known", only: "v1beta2",
		spec: minimal + "\nignition: {version: '3.4', storageType: UnencryptedUserData, proxy: {httpProxy: 'http://p'}}"},
	{name: "ignition of tomorrow", reason: "the message lists what is allowed", only: "v1beta2",
		spec:    minimal + "\nignition: {version: '4.0'}",
		refused: []string{"spec.ignition.version", "4.0", "2.3", "3.4"}},
	{name: "proxy with the default version", reason: "Ignition 2 would ignore it", only: "v1beta2",
		spec:    minimal + "\nignition: {proxy: {httpProxy: 'http://p'}}",
		refused: []string{"spec.ignition.proxy", "3.1 or newer", "2.3"}},
	{name: "trust with version 3.0", reason: "Ignition 3.0 would ignore it", only: "v1beta2",
		spec:    minimal + "\nignition: {version: '3.0', tls: {certificateAuthorities: ['https://ca']}}",
		refused: []string{"spec.ignition.tls", "3.1 or newer", "3.0"}},

	{name: "metadata hops", reason: "the cloud's limit", only: "v1beta2",
		spec:    "awsLaunchTemplate: {instanceMetadataOptions: {httpPutResponseHopLimit: 65}}",
		refused: []string{"httpPutResponseHopLimit", "65", "64"}},
	{name: "metadata tokens", reason: "the message lists what is allowed", only: "v1beta2",
		spec:    "awsLaunchTemplate: {instanceMetadataOptions: {httpTokens: sometimes}}",
		refused: []string{"httpTokens", "sometimes", "optional", "required"}},
	{name: "image of EKS", reason: "the message lists what is allowed", spec: "awsLaunchTemplate: {ami: {eksLookupType: Windows}}",
		refused: []string{"spec.awsLaunchTemplate.ami.eksLookupType", "Windows", "AmazonLinux2023"}},
	{name: "template name with a space", reason: "the cloud refuses it", spec: "awsLaunchTemplate: {name: my pool}",
		refused: []string{"spec.awsLaunchTemplate.name", "my pool"}},
}

// TestRules holds which objects are rejected and which are not. Every case runs in the stored version, and in v1beta1 if that has the
// fields.
func TestRules(t *testing.T) {
	t.Parallel()
	cases := rulesCases
	for _, version := range []string{"v1beta1", "v1beta2"} {
		a := admissionOf(t, v1beta2.AWSMachinePoolKind, version)
		for _, c := range cases {
			if c.only != "" && c.only != version {
				continue
			}
			t.Run(version+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				compare(t, c.reason, a.admit(object(t, poolText(version, c.spec)), nil), c.refused)
			})
		}
	}
}

// TestChanges holds what may not be changed later.
func TestChanges(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, reason, old, new string
		refused                []string
	}{
		{name: "everything else", reason: "a pool follows its specification", old: minimal,
			new: "awsLaunchTemplate: {instanceType: m5.xlarge}\nmaxSize: 9\nsubnets: [{id: subnet-2}]"},
		{name: "same name", reason: "no change is no change", old: "awsLaunchTemplate: {name: one}",
			new: "awsLaunchTemplate: {name: one, instanceType: m5.large}"},
		{name: "another name", reason: "it would leave the first template behind", old: "awsLaunchTemplate: {name: one}",
			new:     "awsLaunchTemplate: {name: two}",
			refused: []string{"spec.awsLaunchTemplate.name", "can't be changed"}},
		{name: "a name at last", reason: "the group's name was taken before", old: minimal, new: "awsLaunchTemplate: {name: two}",
			refused: []string{"spec.awsLaunchTemplate.name", "can't be changed"}},
		{name: "no name any more", reason: "the group's name would be taken", old: "awsLaunchTemplate: {name: one}", new: minimal,
			refused: []string{"spec.awsLaunchTemplate.name", "can't be changed"}},
		{name: "rules hold on update too", reason: "a rule that only creation knows is no rule", old: minimal,
			new:     minimal + "\nminSize: 3\nmaxSize: 2",
			refused: []string{"spec.minSize", "minSize is 3"}},
	}
	for _, version := range []string{"v1beta1", "v1beta2"} {
		a := admissionOf(t, v1beta2.AWSMachinePoolKind, version)
		for _, c := range cases {
			t.Run(version+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				compare(t, c.reason, a.admit(object(t, poolText(version, c.new)), object(t, poolText(version, c.old))), c.refused)
			})
		}
	}
}

// TestDefaults holds what an API server fills in.
func TestDefaults(t *testing.T) {
	t.Parallel()
	a := admissionOf(t, v1beta2.AWSMachinePoolKind, "v1beta2")
	o := object(t, poolText("v1beta2", "awsLaunchTemplate: {instanceMetadataOptions: {}}\nignition: {}\nmixedInstancesPolicy: "+
		"{instancesDistribution: {}}"))
	compare(t, "defaults satisfy the rules", a.admit(o, nil), nil)
	got, err := json.Marshal(o["spec"])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"awsLaunchTemplate":{"instanceMetadataOptions":{"httpEndpoint":"enabled","httpProtocolIpv6":"disabled",` +
		`"httpPutResponseHopLimit":1,"httpTokens":"optional","instanceMetadataTags":"disabled"},"versionsToKeep":3},` +
		`"defaultCoolDown":"5m0s","defaultInstanceWarmup":"5m0s","ignition":{"storageType":"ClusterObjectStore","version":"2.3"},` +
		`"maxSize":1,"minSize":1,"mixedInstancesPolicy":{"instancesDistribution":{"onDemandAllocationStrategy":"prioritized",` +
		`"onDemandBaseCapacity":0,"onDemandPercentageAboveBaseCapacity":100,"spotAllocationStrategy":"lowest-price"}}}`
	if string(got) != want {
		t.Errorf("defaults:\n got %s\nwant %s", got, want)
	}
}

// TestStatus holds that what the controllers report fits the schema, so that no status write is ever refused.
func TestStatus(t *testing.T) {
	t.Parallel()
	status := `
status:
  initialization: {provisioned: true}
  ready: true
  observedGeneration: 3
  replicas: 2
  desiredReplicas: 2
  readyReplicas: 0
  upToDateReplicas: 1
  state: Scaling
  template: lt-0123:4
  version: v1.31.0
  conditions: [{type: Ready, status: 'False', reason: ScalingUp, message: '1 of 2', lastTransitionTime: '2026-01-01T00:00:00Z',
    observedGeneration: 3}]
  instances:
  - {instanceID: i-1, instanceName: ip-10-0-0-1, providerID: 'aws:///us-east-1a/i-1', zone: us-east-1a, state: Running, node: n-1,
      ready: true,
     version: v1.31.0, template: 'lt-0123:4', addresses: [{type: InternalIP, address: 10.0.0.1}]}
  launchTemplateID: lt-0123
  launchTemplateVersion: "4"
  failureReason: InvalidConfiguration
  failureMessage: written by another provider
  asgStatus: Delete in progress
`
	for _, version := range []string{"v1beta1", "v1beta2"} {
		o := object(t, poolText(version, minimal)+status)
		compare(t, version+" takes the whole status", admissionOf(t, v1beta2.AWSMachinePoolKind, version).admit(o, nil), nil)
	}
}

// TestOlderConditions holds that conditions of another provider, which had no reason while they were true, do not keep Muster's from being
// written: the writer sends them back with an empty reason.
func TestOlderConditions(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1beta1", "v1beta2"} {
		o := object(t, poolText(version, minimal)+`
status:
  conditions:
  - {type: ASGReady, status: 'True', reason: '', message: '', lastTransitionTime: '2026-01-01T00:00:00Z'}
  - {type: LaunchTemplateReady, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z'}
`)
		compare(t, version+" takes conditions without a reason", admissionOf(t, v1beta2.AWSMachinePoolKind, version).admit(o, nil), nil)
	}
}

// TestSpellingsOfSubnets follows a manifest of v1beta1 through admission, decoding and conversion to the stored object.
func TestSpellingsOfSubnets(t *testing.T) {
	t.Parallel()
	older, newer := admissionOf(t, v1beta2.AWSMachinePoolKind, "v1beta1"), admissionOf(t, v1beta2.AWSMachinePoolKind, "v1beta2")
	cases := []struct {
		name, reason, subnets string
		stored                string
		refused               string
	}{
		{name: "objects", reason: "how manifests spell it today", subnets: "[{id: subnet-1}]", stored: `[{"id":"subnet-1"}]`},
		{name: "strings", reason: "how they spelled it before", subnets: "[subnet-1, subnet-2]", stored: `[{"id":"subnet-1"},{"id":"subnet-2"}]`},
		{name: "both", reason: "nothing speaks against it", subnets: "[subnet-1, {id: subnet-2}]",
			stored: `[{"id":"subnet-1"},{"id":"subnet-2"}]`},
		{name: "filters", reason: "the other kind of reference", subnets: "[{filters: [{name: vpc-id, values: [vpc-1]}]}]",
			stored: `[{"filters":[{"name":"vpc-id","values":["vpc-1"]}]}]`},
		{name: "none", reason: "zones may say enough", subnets: "[]", stored: "null"},
		{name: "number", reason: "the message names the item", subnets: "[subnet-1, 7]",
			refused: "spec.subnets[1]: want a subnet's ID as a string, or an object with id or filters, found a number"},
		{name: "list", reason: "the message names the item", subnets: "[[subnet-1]]",
			refused: "spec.subnets[0]: want a subnet's ID as a string, or an object with id or filters, found a list"},
		{name: "nothing", reason: "a variable that was not filled in", subnets: "[null]", refused: "spec.subnets[0]"},
		{name: "empty string", reason: "a variable that was not filled in", subnets: "['']",
			refused: "spec.subnets[0]: want a subnet's ID as a string, or an object with id or filters, found an empty string"},
		{name: "empty id", reason: "a variable that was not filled in", subnets: "[{id: ''}]",
			refused: "spec.subnets[0].id: want a subnet's ID, found an empty string"},
		{name: "empty object", reason: "as in the stored version", subnets: "[{}]",
			refused: "spec.subnets[0]: one of id and filters must be set"},
		{name: "id and filters", reason: "as in the stored version", subnets: "[{id: a, filters: [{name: vpc-id, values: [v]}]}]",
			refused: "spec.subnets[0]: id and filters exclude each other"},
		{name: "slip of the pen", reason: "no schema sees it", subnets: "[{ID2: a}]",
			refused: `spec.subnets[0]: want a subnet's ID as a string, or an object with id or filters: json: unknown field "ID2"`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := object(t, poolText("v1beta1", minimal+"\nsubnets: "+c.subnets))
			errs := older.admit(o, nil)
			// Null is the one thing that a list without a schema refuses by itself.
			if c.name != "nothing" {
				compare(t, c.reason, errs, nil)
			}
			stored, err := convert(o)
			if c.refused != "" {
				if err == nil || !strings.Contains(err.Error(), c.refused) {
					t.Fatalf("%s: got %v, want %s", c.reason, err, c.refused)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			compare(t, c.reason, newer.admit(stored, nil), nil)
			got, _ := json.Marshal(stored["spec"].(map[string]any)["subnets"])
			if string(got) != c.stored {
				t.Errorf("%s: stored subnets: got %s, want %s", c.reason, got, c.stored)
			}
		})
	}
}

// convert does what the conversion webhook does with a manifest of v1beta1.
func convert(o map[string]any) (map[string]any, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var from v1beta1.AWSMachinePool
	if err := json.Unmarshal(data, &from); err != nil {
		return nil, err
	}
	var to v1beta2.AWSMachinePool
	if err := from.ConvertTo(&to); err != nil {
		return nil, err
	}
	to.APIVersion, to.Kind = v1beta2.GroupVersion.String(), v1beta2.AWSMachinePoolKind
	data, err = json.Marshal(&to)
	if err != nil {
		return nil, err
	}
	var stored map[string]any
	return stored, utiljson.Unmarshal(data, &stored)
}

func compare(t *testing.T, reason string, got field.ErrorList, want []string) {
	t.Helper()
	if len(want) == 0 {
		for _, err := range got {
			t.Errorf("%s: refused with %v, want it to be taken", reason, err)
		}
		return
	}
	if len(got) == 0 {
		t.Fatalf("%s: taken, want it to be refused with %q", reason, want)
	}
	for _, err := range got {
		all := true
		for _, part := range want {
			all = all && strings.Contains(err.Error(), part)
		}
		if all {
			return
		}
	}
	t.Errorf("%s:\n got %v\nwant one with %q", reason, got, want)
}

func manyTags(n int) string {
	var tags []string
	for i := range n {
		tags = append(tags, fmt.Sprintf("k%d: v", i))
	}
	return "{" + strings.Join(tags, ", ") + "}"
}

func hook(more string) string {
	text := "name: h, lifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING'"
	if more != "" {
		text += ", " + more
	}
	return "{" + text + "}"
}
