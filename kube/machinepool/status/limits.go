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
	// messageLimit bounds messages, in bytes. People read them, and some are made of what others say: the API refuses a status with one
	// message of more than 32768 bytes, or 10240 in the older conditions, and the pool would say nothing any more.
	messageLimit = 4096
	// wordLimit bounds reasons and what the older API calls a failure's reason.
	wordLimit = 256
)

// word is what the API takes for the reason of a condition.
var word = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// taken is a condition in a form that the API takes. Reasons and statuses of providers' conditions may be anything: one that is no
// word is said in the message.
func taken(c metav1.Condition) metav1.Condition {
	switch c.Status {
	case metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown:
	default:
		c.Status = metav1.ConditionUnknown
	}
	if len(c.Reason) > wordLimit || !word.MatchString(c.Reason) {
		c.Message = and(strings.TrimSpace(c.Reason), c.Message)
		c.Reason = map[metav1.ConditionStatus]string{metav1.ConditionTrue: clusterv1.ReadyReason, metav1.ConditionFalse: clusterv1.NotReadyReason,
			metav1.ConditionUnknown: clusterv1.ReadyUnknownReason}[c.Status]
	}
	c.Message = Cut(c.Message)
	return c
}

// Cut is a message that is short enough.
func Cut(message string) string { return cut(message, messageLimit) }

func cut(message string, limit int) string {
	if len(message) <= limit {
		return message
	}
	return strings.ToValidUTF8(message[:limit-len("...")], "") + "..."
}

// Few joins the first of several errors and counts the rest, for a message that people can read; nil joins to nil.
func Few(errs []error) error {
	if len(errs) <= namesShown {
		return errors.Join(errs...)
	}
	return fmt.Errorf("%w\nand %d more", errors.Join(errs[:namesShown]...), len(errs)-namesShown)
}
