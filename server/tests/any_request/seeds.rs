//! Valid requests of every kind, for the store of [`store`](super::store).
//!
//! `$STREAM`, `$SHARD`, `$NUMBER` and `$ITERATOR` are placeholders for the identifiers that the
//! store has assigned to its stream.

use tabla_server::Operation::{self, *};

pub(crate) type Seed = (Operation, &'static str);

pub(crate) const ALL: &[Seed] = &[
    (GetItem, r#"{"TableName":"things","Key":{"pk":{"S":"a"},"sk":{"N":"1"}}}"#),
    (
        GetItem,
        r##"{"TableName":"arn:aws:dynamodb:local:0:table/things","Key":{"pk":{"S":"a"},"sk":{"N":"1"}},"ProjectionExpression":"l[1].q, #m.n, ss","ExpressionAttributeNames":{"#m":"m"},"ConsistentRead":true,"ReturnConsumedCapacity":"INDEXES"}"##,
    ),
    (
        GetItem,
        r#"{"TableName":"things","Key":{"pk":{"S":"a"},"sk":{"N":"1"}},"AttributesToGet":["l","m"]}"#,
    ),
    (
        PutItem,
        r##"{"TableName":"things","Item":{"pk":{"S":"a"},"sk":{"N":"1"},"size":{"N":"-1.5e3"},"kind":{"S":"y"},"l":{"L":[{"NULL":true},{"BOOL":false}]},"bs":{"BS":["AQ==","Ag=="]},"ns":{"NS":["1","2"]}},"ConditionExpression":"#k = :x AND (size(l) > :n OR NOT contains(ss, :a)) AND m.n BETWEEN :n AND :m","ExpressionAttributeNames":{"#k":"kind"},"ExpressionAttributeValues":{":x":{"S":"x"},":n":{"N":"1"},":m":{"N":"9"},":a":{"S":"a"}},"ReturnValues":"ALL_OLD","ReturnConsumedCapacity":"TOTAL","ReturnItemCollectionMetrics":"SIZE","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}"##,
    ),
    (
        PutItem,
        r#"{"TableName":"things","Item":{"pk":{"S":"a"},"sk":{"N":"1"}},"Expected":{"kind":{"Value":{"S":"x"},"Exists":true},"none":{"Exists":false},"size":{"ComparisonOperator":"BETWEEN","AttributeValueList":[{"N":"1"},{"N":"99"}]}},"ConditionalOperator":"AND"}"#,
    ),
    (
        UpdateItem,
        r##"{"TableName":"things","Key":{"pk":{"S":"a"},"sk":{"N":"1"}},"UpdateExpression":"SET #s = #s + :n, l = list_append(l, :l), v = if_not_exists(v, :n) REMOVE m.n, z ADD ns :ns DELETE ss :ss","ConditionExpression":"attribute_exists(pk) AND kind IN (:x, :y) AND begins_with(pk, :a)","ExpressionAttributeNames":{"#s":"size"},"ExpressionAttributeValues":{":n":{"N":"1"},":l":{"L":[{"S":"e"}]},":ns":{"NS":["3"]},":ss":{"SS":["a"]},":x":{"S":"x"},":y":{"S":"y"},":a":{"S":"a"}},"ReturnValues":"UPDATED_NEW"}"##,
    ),
    (
        UpdateItem,
        r#"{"TableName":"things","Key":{"pk":{"S":"n"},"sk":{"N":"1"}},"AttributeUpdates":{"kind":{"Value":{"S":"z"},"Action":"PUT"},"count":{"Value":{"N":"1"},"Action":"ADD"},"gone":{"Action":"DELETE"},"list":{"Value":{"L":[{"N":"1"}]},"Action":"ADD"}},"Expected":{"pk":{"ComparisonOperator":"NULL"}},"ReturnValues":"ALL_NEW"}"#,
    ),
    (
        DeleteItem,
        r#"{"TableName":"things","Key":{"pk":{"S":"a"},"sk":{"N":"1"}},"ConditionExpression":"attribute_type(kind, :s) AND m.n <> :s","ExpressionAttributeValues":{":s":{"S":"S"}},"ReturnValues":"ALL_OLD"}"#,
    ),
    (
        DeleteItem,
        r#"{"TableName":"things","Key":{"pk":{"S":"a"},"sk":{"N":"1"}},"Expected":{"kind":{"ComparisonOperator":"IN","AttributeValueList":[{"S":"x"},{"S":"y"}]},"ss":{"ComparisonOperator":"CONTAINS","AttributeValueList":[{"S":"a"}]}},"ConditionalOperator":"OR"}"#,
    ),
    (
        Query,
        r##"{"TableName":"things","KeyConditionExpression":"pk = :a AND sk BETWEEN :n AND :m","FilterExpression":"attribute_not_exists(gone) OR #s >= :n","ProjectionExpression":"pk, sk, #s","ExpressionAttributeNames":{"#s":"size"},"ExpressionAttributeValues":{":a":{"S":"a"},":n":{"N":"1"},":m":{"N":"5"}},"Limit":2,"ScanIndexForward":false,"ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"N":"4"}},"Select":"SPECIFIC_ATTRIBUTES","ConsistentRead":true,"ReturnConsumedCapacity":"TOTAL"}"##,
    ),
    (
        Query,
        r##"{"TableName":"things","IndexName":"by-kind","KeyConditionExpression":"kind = :x AND sk > :n","ExpressionAttributeValues":{":x":{"S":"x"},":n":{"N":"0"}},"ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"N":"1"},"kind":{"S":"x"}},"Select":"COUNT"}"##,
    ),
    (
        Query,
        r#"{"TableName":"things","KeyConditions":{"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]},"sk":{"ComparisonOperator":"LE","AttributeValueList":[{"N":"50"}]}},"QueryFilter":{"kind":{"ComparisonOperator":"NE","AttributeValueList":[{"S":"y"}]},"gone":{"ComparisonOperator":"NULL"}},"ConditionalOperator":"OR"}"#,
    ),
    (
        Query,
        r#"{"TableName":"things","IndexName":"by-size","KeyConditions":{"pk":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]}},"QueryFilter":{"sk":{"ComparisonOperator":"GT","AttributeValueList":[{"N":"0"}]}},"AttributesToGet":["pk","l"]}"#,
    ),
    (
        Scan,
        r##"{"TableName":"things","FilterExpression":"begins_with(#k, :x) AND contains(l, :t)","ExpressionAttributeNames":{"#k":"kind"},"ExpressionAttributeValues":{":x":{"S":"x"},":t":{"S":"t"}},"Segment":1,"TotalSegments":4,"Limit":3,"Select":"ALL_ATTRIBUTES"}"##,
    ),
    (
        Scan,
        r#"{"TableName":"things","IndexName":"by-kind","ScanFilter":{"size":{"ComparisonOperator":"GT","AttributeValueList":[{"N":"1"}]}},"ExclusiveStartKey":{"pk":{"S":"a"},"sk":{"N":"1"},"kind":{"S":"x"}}}"#,
    ),
    (
        BatchGetItem,
        r##"{"RequestItems":{"things":{"Keys":[{"pk":{"S":"a"},"sk":{"N":"1"}},{"pk":{"S":"b"},"sk":{"N":"1"}}],"ProjectionExpression":"#k","ExpressionAttributeNames":{"#k":"kind"},"ConsistentRead":true}},"ReturnConsumedCapacity":"INDEXES"}"##,
    ),
    (
        BatchGetItem,
        r#"{"RequestItems":{"things":{"Keys":[{"pk":{"S":"a"},"sk":{"N":"1"}}],"AttributesToGet":["kind"]}}}"#,
    ),
    (
        BatchWriteItem,
        r#"{"RequestItems":{"things":[{"PutRequest":{"Item":{"pk":{"S":"c"},"sk":{"N":"1"},"b":{"B":"AQID"}}}},{"DeleteRequest":{"Key":{"pk":{"S":"a"},"sk":{"N":"1"}}}}]},"ReturnConsumedCapacity":"TOTAL","ReturnItemCollectionMetrics":"SIZE"}"#,
    ),
    (
        TransactGetItems,
        r##"{"TransactItems":[{"Get":{"TableName":"things","Key":{"pk":{"S":"a"},"sk":{"N":"1"}},"ProjectionExpression":"#k","ExpressionAttributeNames":{"#k":"kind"}}},{"Get":{"TableName":"things","Key":{"pk":{"S":"z"},"sk":{"N":"1"}}}}],"ReturnConsumedCapacity":"TOTAL"}"##,
    ),
    (
        TransactWriteItems,
        r##"{"TransactItems":[{"ConditionCheck":{"TableName":"things","Key":{"pk":{"S":"a"},"sk":{"N":"1"}},"ConditionExpression":"attribute_exists(pk)"}},{"Put":{"TableName":"things","Item":{"pk":{"S":"d"},"sk":{"N":"1"}},"ConditionExpression":"attribute_not_exists(pk)"}},{"Update":{"TableName":"things","Key":{"pk":{"S":"a"},"sk":{"N":"2"}},"UpdateExpression":"SET #k = :x","ExpressionAttributeNames":{"#k":"kind"},"ExpressionAttributeValues":{":x":{"S":"w"}},"ReturnValuesOnConditionCheckFailure":"ALL_OLD"}},{"Delete":{"TableName":"things","Key":{"pk":{"S":"b"},"sk":{"N":"1"}}}}],"ClientRequestToken":"token","ReturnConsumedCapacity":"TOTAL","ReturnItemCollectionMetrics":"SIZE"}"##,
    ),
    (
        CreateTable,
        r#"{"TableName":"more","AttributeDefinitions":[{"AttributeName":"p","AttributeType":"S"},{"AttributeName":"s","AttributeType":"B"},{"AttributeName":"g","AttributeType":"N"}],"KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"s","KeyType":"RANGE"}],"LocalSecondaryIndexes":[{"IndexName":"local","KeySchema":[{"AttributeName":"p","KeyType":"HASH"},{"AttributeName":"g","KeyType":"RANGE"}],"Projection":{"ProjectionType":"KEYS_ONLY"}}],"GlobalSecondaryIndexes":[{"IndexName":"global","KeySchema":[{"AttributeName":"g","KeyType":"HASH"}],"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["x"]},"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}}],"BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":2},"StreamSpecification":{"StreamEnabled":true,"StreamViewType":"KEYS_ONLY"},"SSESpecification":{"Enabled":true,"SSEType":"KMS"},"Tags":[{"Key":"k","Value":"v"}],"TableClass":"STANDARD","DeletionProtectionEnabled":true}"#,
    ),
    (
        UpdateTable,
        r#"{"TableName":"things","AttributeDefinitions":[{"AttributeName":"kind","AttributeType":"S"},{"AttributeName":"pk","AttributeType":"S"}],"GlobalSecondaryIndexUpdates":[{"Create":{"IndexName":"new","KeySchema":[{"AttributeName":"kind","KeyType":"HASH"},{"AttributeName":"pk","KeyType":"RANGE"}],"Projection":{"ProjectionType":"ALL"}}}]}"#,
    ),
    (
        UpdateTable,
        r#"{"TableName":"things","GlobalSecondaryIndexUpdates":[{"Delete":{"IndexName":"by-kind"}}]}"#,
    ),
    (
        UpdateTable,
        r#"{"TableName":"things","BillingMode":"PROVISIONED","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5},"GlobalSecondaryIndexUpdates":[{"Update":{"IndexName":"by-kind","ProvisionedThroughput":{"ReadCapacityUnits":5,"WriteCapacityUnits":5}}}]}"#,
    ),
    (UpdateTable, r#"{"TableName":"things","StreamSpecification":{"StreamEnabled":false}}"#),
    (UpdateTable, r#"{"TableName":"things","DeletionProtectionEnabled":true}"#),
    (DeleteTable, r#"{"TableName":"things"}"#),
    (DescribeTable, r#"{"TableName":"things"}"#),
    (ListTables, r#"{"Limit":1,"ExclusiveStartTableName":"aaa"}"#),
    (
        UpdateTimeToLive,
        r#"{"TableName":"other","TimeToLiveSpecification":{"AttributeName":"at","Enabled":true}}"#,
    ),
    (DescribeTimeToLive, r#"{"TableName":"things"}"#),
    (
        TagResource,
        r#"{"ResourceArn":"arn:aws:dynamodb:local:0:table/things","Tags":[{"Key":"k","Value":"v"}]}"#,
    ),
    (
        UntagResource,
        r#"{"ResourceArn":"arn:aws:dynamodb:local:0:table/things","TagKeys":["owner","k"]}"#,
    ),
    (ListTagsOfResource, r#"{"ResourceArn":"arn:aws:dynamodb:local:0:table/things"}"#),
    (DescribeContinuousBackups, r#"{"TableName":"things"}"#),
    (
        UpdateContinuousBackups,
        r#"{"TableName":"things","PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":false}}"#,
    ),
    (DescribeLimits, "{}"),
    (DescribeEndpoints, "{}"),
    (ListStreams, r#"{"TableName":"things","Limit":1}"#),
    (DescribeStream, r#"{"StreamArn":"$STREAM","Limit":1}"#),
    (
        GetShardIterator,
        r#"{"StreamArn":"$STREAM","ShardId":"$SHARD","ShardIteratorType":"AFTER_SEQUENCE_NUMBER","SequenceNumber":"$NUMBER"}"#,
    ),
    (
        GetShardIterator,
        r#"{"StreamArn":"$STREAM","ShardId":"$SHARD","ShardIteratorType":"TRIM_HORIZON"}"#,
    ),
    (GetRecords, r#"{"ShardIterator":"$ITERATOR","Limit":2}"#),
];
