package screen

import "golang.org/x/sys/unix"

const getAttributes, setAttributes = unix.TCGETS, unix.TCSETS
