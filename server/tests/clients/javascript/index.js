// Tests of the AWS SDK for JavaScript, on the server that AWS_ENDPOINT_URL names.

"use strict";

require("./tables.js");
require("./writes.js");
require("./transactions.js");
require("./queries.js");
require("./batches.js");
require("./streams.js");
require("./values.js");
require("./settings.js");
