package status

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

const (
	// messageLimit is the limit for messages, in bytes. Some contain what other components report. The API rejects a whole status with one
	// message of more than 32768 bytes, or of more than 10240 in a v1beta1 condition.
	messageLimit = 4096
	// reasonLimit is the limit for reasons of conditions and failures, in bytes.
	reasonLimit = 256
)

// reasonPattern matches the reasons that the API accepts in a condition.
var reasonPattern = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// valid returns a condition in a form that the API accepts. Providers may report any reason and status: an invalid reason is moved to the
// message.
func valid(c metav1.Condition) metav1.Condition {
	switch c.Status {
	case metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown:
	default:
		c.Status = metav1.ConditionUnknown
	}
	if len(c.Reason) > reasonLimit || !reasonPattern.MatchString(c.Reason) {
		c.Message = and(strings.TrimSpace(c.Reason), c.Message)
		c.Reason = map[metav1.ConditionStatus]string{metav1.ConditionTrue: clusterv1.ReadyReason, metav1.ConditionFalse: clusterv1.NotReadyReason,
			metav1.ConditionUnknown: clusterv1.ReadyUnknownReason}[c.Status]
	}
	c.Message = Cut(c.Message)
	return c
}

// Cut returns a message that is short enough for a condition.
func Cut(message string) string { return cut(message, messageLimit) }

func cut(message string, limit int) string {
	if len(message) <= limit {
		return message
	}
	return strings.ToValidUTF8(message[:limit-len("...")], "") + "..."
}

// Few joins the first errors and counts the rest, for a readable message. It returns nil if there are none.
func Few(errs []error) error {
	if len(errs) <= namesShown {
		return errors.Join(errs...)
	}
	return fmt.Errorf("%w\nand %d more", errors.Join(errs[:namesShown]...), len(errs)-namesShown)
}
