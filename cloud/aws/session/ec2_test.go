package session

import (
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// TestHoldsNoClientOfEC2: what a paginator is given becomes an interface, and the linker keeps all methods of all types that it holds.
func TestHoldsNoClientOfEC2(t *testing.T) {
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
	if seen[reflect.TypeFor[ec2.Client]()] {
		t.Error("want no ec2.Client in a Session: every operation of EC2 becomes part of the binaries")
	}
}
