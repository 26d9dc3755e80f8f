package storm

import (
	"io"
	"log"
)

// quiet is for a server that is made to fail.
var quiet = log.New(io.Discard, "", 0)
