package aws

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/muster-project/muster/sim/aws/shapes/autoscaling"
	"github.com/muster-project/muster/sim/aws/shapes/ec2"
)

// template is a launch template; its versions are rows of their own.
type template struct {
	ID, Name        string
	Created         time.Time
	Default, Latest int64
	Tags            map[string]string
}

// version is one version of a launch template. Its user data is kept apart, for it is large and often the same.
type version struct {
	Template    string
	Number      int64
	Created     time.Time
	Description string
	Data        ec2.ResponseLaunchTemplateData
	// Blob is the user data in base64 as it was given, "" for none.
	Blob string
}

func versionKey(id string, number int64) string { return fmt.Sprintf("%s/%08d", id, number) }

// blob is user data in base64, shared by all that were given the same.
type blob struct{ Base64 string }

// Instance states, as EC2 names them.
const (
	statePending      = "pending"
	stateRunning      = "running"
	stateShuttingDown = "shutting-down"
	stateTerminated   = "terminated"
)

var stateCodes = map[string]int32{statePending: 0, stateRunning: 16, stateShuttingDown: 32, stateTerminated: 48}

// instance is a virtual machine.
type instance struct {
	ID, Reservation string
	// Number orders instances by their launch.
	Number  int64
	State   string
	Since   time.Time
	Launch  time.Time
	Type    string
	Image   string
	Subnet  string
	Zone    string
	Address string
	Key     string
	Groups  []string
	Profile string
	Spot    bool
	Tags    map[string]string
	Blob    string
	Token   string
	Data    ec2.ResponseLaunchTemplateData
	// Next is when the state changes by itself: booted, stopped, forgotten.
	Next time.Time
	// Reason is why it stopped, in the words of EC2.
	ReasonCode, Reason string
	// Faults that it was launched with.
	NeverBoots bool
	ImpairedAt time.Time
	DiesAt     time.Time
	// RecommendedAt is when its replacement is recommended, NoticeAt when a spot instance is told that it will be taken at TakenAt.
	RecommendedAt time.Time
	NoticeAt      time.Time
	TakenAt       time.Time
}

func (i *instance) alive() bool { return i.State == statePending || i.State == stateRunning }

func (i *instance) impaired(now time.Time) bool {
	return !i.ImpairedAt.IsZero() && !now.Before(i.ImpairedAt)
}

// member is an instance's place in a group.
type member struct {
	Instance, Group string
	// Number orders members by the launch of their instances.
	Number        int64
	State, Health string
	// Since is when it came into its state.
	Since     time.Time
	Protected bool
	Template  autoscaling.LaunchTemplateSpecification
	Type      string
	Zone      string
	Spot      bool
	// Activity is the running activity about it.
	Activity string
	// InServiceAt is when it first came into service: grace and warm-up count from there.
	InServiceAt time.Time
	// Waits are the hooks that have not been completed yet, by name.
	Waits map[string]wait
	// Weighted is how much of the desired capacity it is, "" for one.
	Weighted string
	// AtRisk says why it goes as soon as another has taken its place; "" for a member that stays.
	AtRisk string
	// Refresh is the instance refresh during which it was launched.
	Refresh string
}

// wait is a lifecycle action that somebody must complete.
type wait struct {
	Token         string
	Until, Global time.Time
	// Beat is how long a heartbeat prolongs it.
	Beat    time.Duration
	Default string
}

// group is an Auto Scaling group; its instances are members, rows of their own.
type group struct {
	// Spec is what was asked for, in the service's own shape, without instances, tags and suspended processes.
	Spec      autoscaling.AutoScalingGroup
	Tags      map[string]groupTag
	Hooks     map[string]autoscaling.LifecycleHook
	Suspended map[string]string
	Deleting  bool
	// Check is when the group next compares what it has with what it should have.
	Check time.Time
	// Failures counts launches refused in a row, Retry is when the next is tried.
	Failures int
	Retry    time.Time
	// Barren are the zones that had no capacity, and until when they are passed over.
	Barren map[string]time.Time
	// Cause is the sentence for the activities that come of what was last asked.
	Cause string
	// CooledAt is when the cooldown of the last scaling ends.
	CooledAt time.Time
	// Refreshing is the ID of the instance refresh that is under way, "" for none.
	Refreshing string
}

type groupTag struct {
	Value     string
	Propagate bool
}

func (g *group) name() string { return str(g.Spec.AutoScalingGroupName) }

func (g *group) suspended(process string) bool {
	_, ok := g.Suspended[process]
	return ok
}

// activity is one scaling activity.
type activity struct {
	Group string
	// Number orders the activities of a region.
	Number int64
	autoscaling.Activity
}

func activityKey(group string, number int64) string { return fmt.Sprintf("%s:%012d", group, number) }

// refresh is an instance refresh.
type refresh struct {
	Group  string
	Number int64
	autoscaling.InstanceRefresh
	// Total is how many it set out to replace.
	Total int
	// Before is the configuration to roll back to, Reverting while it does so.
	Before    autoscaling.DesiredConfiguration
	Reverting bool
	// CheckpointAt is how many checkpoints were passed, Until when the present wait ends, Progressed when it last
	// took a step.
	CheckpointAt int
	Until        time.Time
	Progressed   time.Time
	// LaunchFirst says that a maximum of health was asked for: where no instance may go, one is launched before.
	LaunchFirst bool
}

func refreshKey(group string, number int64) string { return fmt.Sprintf("%s:%012d", group, number) }

// idempotent remembers what a client token has made.
type idempotent struct {
	Params  string
	Result  string
	Expires time.Time
}

// vpc, subnet, securityGroup and keyPair are the network that instances are launched into.
type vpc struct {
	ID, CIDR string
	Tags     map[string]string
}

type subnet struct {
	ID, VPC, Zone, CIDR string
	Public              bool
	Tags                map[string]string
	// Given counts addresses handed out, so that the next one is found at once.
	Given int
}

type securityGroup struct {
	ID, Name, Description, VPC string
	Tags                       map[string]string
}

type keyPair struct {
	ID, Name, Fingerprint string
	Created               time.Time
	Tags                  map[string]string
}

// sequence numbers what a region makes.
type sequence struct{ Last int64 }

// str is the value of an optional string, "" when absent.
func str(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// val is the value of an optional field, the zero value when absent.
func val[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// ptr is a pointer to a copy; opt is nil for an empty string.
func ptr[T any](v T) *T { return &v }

func opt(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// stamp is a time as the services write it, or nil for none.
func stamp(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return ptr(t.UTC().Truncate(time.Millisecond))
}

// reshape turns one shape into another of the same field names: what was asked for into what is shown.
func reshape(from, to any) error {
	b, err := json.Marshal(from)
	if err != nil {
		return fmt.Errorf("reshape %T: %w", from, err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("reshape %T into %T: %w", from, to, err)
	}
	return nil
}

// overlay sets every field of the struct dst for which src, a struct with fields of the same names, has a value. An empty list
// that is not nil is a value: clients send it to clear one.
func overlay(dst, src any) {
	to, from := reflect.ValueOf(dst).Elem(), reflect.ValueOf(src).Elem()
	for i := range from.NumField() {
		field := to.FieldByName(from.Type().Field(i).Name)
		if field.IsValid() && field.Type() == from.Field(i).Type() && !from.Field(i).IsZero() {
			field.Set(from.Field(i))
		}
	}
}
