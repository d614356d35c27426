package session

import (
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/ssm"
)

// TestHoldsNoWholeClients: what a paginator is given becomes an interface, and the linker keeps all methods of all types that it holds.
func TestHoldsNoWholeClients(t *testing.T) {
	t.Parallel()
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(is reflect.Type) {
		if seen[is] {
			return
		}
		seen[is] = true
		switch is.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map, reflect.Chan:
			walk(is.Elem())
		case reflect.Struct:
			for k := range is.NumField() {
				walk(is.Field(k).Type)
			}
		case reflect.Func:
			for k := range is.NumIn() {
				walk(is.In(k))
			}
			for k := range is.NumOut() {
				walk(is.Out(k))
			}
		}
	}
	walk(reflect.TypeFor[Session]())
	if !seen[reflect.TypeFor[*EC2]()] {
		t.Error("want *EC2 in a Session: the test looks at too little")
	}
	for _, client := range []reflect.Type{
		reflect.TypeFor[ec2.Client](), reflect.TypeFor[eks.Client](), reflect.TypeFor[iam.Client](), reflect.TypeFor[ssm.Client](),
	} {
		if seen[client] {
			t.Errorf("want no %v in a Session: every operation of the service becomes part of the binaries", client)
		}
	}
}
